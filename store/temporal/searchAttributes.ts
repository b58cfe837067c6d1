import { defineSearchAttributeKey, SearchAttributeType, TypedSearchAttributes } from '@temporalio/common';

/** Operators can filter workflows by these in Temporal's web page. */
const keys = {
  workbook: defineSearchAttributeKey('SvcWorkbook', SearchAttributeType.KEYWORD),
  account: defineSearchAttributeKey('SvcAccount', SearchAttributeType.KEYWORD),
  kind: defineSearchAttributeKey('SvcKind', SearchAttributeType.KEYWORD),
};

export function searchAttributes(values: { workbook?: string; account?: string; kind: string }): TypedSearchAttributes {
  return new TypedSearchAttributes([
    { key: keys.kind, value: values.kind },
    ...(values.workbook === undefined ? [] : [{ key: keys.workbook, value: values.workbook }]),
    ...(values.account === undefined ? [] : [{ key: keys.account, value: values.account }]),
  ]);
}

export const searchAttributeNames = Object.values(keys).map((key) => key.name);
