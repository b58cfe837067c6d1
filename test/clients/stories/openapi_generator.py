"""Uploads a file, adds a row and asks a question, with the Python client that openapi-generator makes."""

import json
import os

import openapi_client
from openapi_client import models

configuration = openapi_client.Configuration(host=os.environ["SERVICE_URL"], access_token=os.environ["SERVICE_TOKEN"])

with openapi_client.ApiClient(configuration) as client:
    workbook = openapi_client.WorkbooksApi(client).create_workbook(models.CreateWorkbookRequest(title="openapi-generator"))
    with open("sales.csv", "rb") as file:
        uploaded = openapi_client.SourcesApi(client).upload_source(workbook.id, ("sales.csv", file.read()), var_async=False)
    request = models.UpsertRowsRequest(expected_version=None, rows=[{"region": "East", "amount": 40}])
    openapi_client.RowsApi(client).upsert_rows(workbook.id, uploaded.artifacts[0].name, upsert_rows_request=request)
    answer = openapi_client.QueryApi(client).run_query(workbook.id, models.QueryRequest(sql=os.environ["QUERY"]))
    print(json.dumps(answer.rows))
