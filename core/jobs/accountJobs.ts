export interface DeleteAccountInput {
  accountId: string;
}
