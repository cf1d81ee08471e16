package api_test

import (
	"encoding/json"
	"maps"
	"strings"
	"testing"

	"github.com/rotajobs/rota/api"
)

// TestSecretsKeepTheirBytes sends secrets as JSON.
func TestSecretsKeepTheirBytes(t *testing.T) {
	values := map[string]string{
		"TEXT": "é \t\r\n\"\uFFFD\u2028\x7f", "BYTES": "k\xff\xfe\x00key", "CONTROL": strings.Repeat("\x01", 1000), "NUL": "a\x00b", "LATIN": "\xe9t\xe9", "": "x",
	}
	given := maps.Clone(values)
	sent, err := json.Marshal(api.NewClaimedSecrets(given))
	if err != nil || !maps.Equal(given, values) || len(sent) > 2000 {
		t.Fatalf("%d bytes, %v, %v", len(sent), given, err)
	}
	var read api.ClaimedSecrets
	if err := json.Unmarshal(sent, &read); err != nil {
		t.Fatal(err)
	}
	if got, err := read.Values(); err != nil || !maps.Equal(got, values) {
		t.Errorf("%q, %v", got, err)
	}
	if read.Secrets["TEXT"] != values["TEXT"] || len(read.Secrets) != 2 {
		t.Errorf("texts: %q", read.Secrets)
	}
	bad := api.ClaimedSecrets{SecretsBase64: map[string]string{"A": "hunter2!"}}
	if _, err := bad.Values(); err == nil || strings.Contains(err.Error(), "hunter") {
		t.Errorf("bad base64: %v", err)
	}
	if none, err := new(api.ClaimedSecrets).Values(); none != nil || err != nil {
		t.Errorf("no secrets: %v, %v", none, err)
	}
}
