"""An OTLP/HTTP receiver in a process of its own, decoding by OpenTelemetry's own messages."""

from __future__ import annotations

import json
import sys
from http.server import BaseHTTPRequestHandler, HTTPServer

from google.protobuf import json_format
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import (
    ExportLogsServiceRequest,
    ExportLogsServiceResponse,
)


class Receiver(BaseHTTPRequestHandler):
    """Takes log records as JSON, refuses whatever the messages do not know."""

    def do_POST(self) -> None:
        """Decode one request."""
        body = self.rfile.read(int(self.headers["Content-Length"]))
        try:
            request = json_format.Parse(body, ExportLogsServiceRequest())
        except json_format.ParseError as error:
            self.send_error(400, str(error))
            return
        for resource in request.resource_logs:
            for scope in resource.scope_logs:
                for record in scope.log_records:
                    told = {
                        each.key: each.value.double_value or each.value.string_value
                        for each in record.attributes
                    }
                    print(json.dumps({"path": self.path, "event": record.event_name} | told))
        sys.stdout.flush()
        reply = json_format.MessageToJson(ExportLogsServiceResponse()).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(reply)))
        self.end_headers()
        self.wfile.write(reply)

    def log_message(self, *_: object) -> None:
        """Says nothing of its own."""


if __name__ == "__main__":
    with HTTPServer(("127.0.0.1", 0), Receiver) as server:
        print(server.server_port, flush=True)
        server.serve_forever()
