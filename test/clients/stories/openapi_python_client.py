"""Uploads a file, adds a row and asks a question, with the client that openapi-python-client makes."""

import json
import os
from typing import cast

from workbook_data_service_client import AuthenticatedClient
from workbook_data_service_client.api.query import run_query
from workbook_data_service_client.api.rows import upsert_rows
from workbook_data_service_client.api.sources import upload_source
from workbook_data_service_client.api.workbooks import create_workbook
from workbook_data_service_client.models import (
    CreateWorkbookRequest,
    QueryRequest,
    QueryResult,
    RowInput,
    SourceUploadResponse,
    UploadSourceForm,
    UpsertRowsRequest,
    UpsertRowsResult,
    Workbook,
)
from workbook_data_service_client.types import File

client = AuthenticatedClient(base_url=os.environ["SERVICE_URL"], token=os.environ["SERVICE_TOKEN"])

workbook = create_workbook.sync(client=client, body=CreateWorkbookRequest(title="openapi-python-client"))
assert isinstance(workbook, Workbook), workbook

with open("sales.csv", "rb") as file:
    form = UploadSourceForm(file=File(payload=file, file_name="sales.csv"), async_=False)
    uploaded = upload_source.sync(workbook.id, client=client, body=form)
assert isinstance(uploaded, SourceUploadResponse), uploaded

row = RowInput.from_dict({"region": "East", "amount": 40})
request = UpsertRowsRequest(expected_version=None, rows=[row])
upserted = upsert_rows.sync(workbook.id, uploaded.artifacts[0].name, client=client, body=request)
assert isinstance(upserted, UpsertRowsResult), upserted

answer = run_query.sync(workbook.id, client=client, body=QueryRequest(sql=os.environ["QUERY"]))
assert isinstance(answer, QueryResult), answer
print(json.dumps([cast(object, each.to_dict()) for each in answer.rows]))
