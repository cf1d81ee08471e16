package payload_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/rotajobs/rota/payload"
)

func TestURLSchemaAndParseAgree(t *testing.T) {
	type call struct {
		To payload.URL `json:"to"`
	}
	schema, err := payload.Schema(call{})
	if err != nil {
		t.Fatal(err)
	}
	check, err := payload.Compile(schema)
	if err != nil {
		t.Fatal(err)
	}
	for text, good := range map[string]bool{
		"http://a": true, "https://a.example:8443/b?c=d#e": true, "https://[::1]/": true, "https://a/?b=c@d": true,
		"": false, "a": false, "a.example/b": false, "//a/b": false, "/b": false, "ftp://a": false, "http://": false, "http://:80": false,
		"http://ada@a/": false, "http://ada:hunter2@a/": false, "http://a b/": false, "http://a:b/": false, "http://[::1": false, "http://a:0/": false, "http://a:65536/": false, "http://a:65535/": true, "HTTP:a": false,
		"http://a/" + strings.Repeat("b", 9_000): false,
	} {
		params, _ := json.Marshal(map[string]string{"to": text})
		err := check.Check(params)
		if (err == nil) != good || !good && !strings.HasPrefix(err.Error(), "params.to: ") || !good && strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%.60q: %v", text, err)
		}
		if _, err := payload.URL(text).Parse(); (err == nil) != good && len(text) < 9_000 {
			t.Errorf("Parse of %.60q: %v", text, err)
		}
	}
}
