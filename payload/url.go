package payload

import (
	"errors"
	"net/url"
	"strconv"

	"github.com/invopop/jsonschema"
)

// URL is an http or https URL with a host. It has no user and no password, because
// users can read params.
type URL string

// urlFormat is the format of a URL in a schema. The format "uri" of JSON Schema
// accepts many other URIs.
const urlFormat = "rota-url"

const urlMax = 8 << 10

// JSONSchema is the schema of the text.
func (URL) JSONSchema() *jsonschema.Schema {
	most := uint64(urlMax)
	return &jsonschema.Schema{
		Type: "string", Format: urlFormat, MaxLength: &most, Examples: []any{"https://example.com/a"},
		Description: "an address of http or https, without a user or password in it",
	}
}

// Parse parses the URL.
func (u URL) Parse() (*url.URL, error) {
	parsed, err := url.Parse(string(u))
	switch {
	case err != nil, parsed.Scheme != "http" && parsed.Scheme != "https", parsed.Hostname() == "", parsed.User != nil, !isPort(parsed.Port()):
		return nil, errURL
	}
	return parsed, nil
}

// isPort reports whether a port is empty or from 1 to 65535.
func isPort(text string) bool {
	n, err := strconv.ParseUint(text, 10, 16)
	return text == "" || err == nil && n > 0
}

var errURL = errors.New("is not " + formatWords[urlFormat])

func checkURL(v any) error {
	text, is := v.(string)
	if !is {
		return nil
	}
	_, err := URL(text).Parse()
	return err
}
