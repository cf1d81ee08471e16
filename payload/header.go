package payload

import (
	"errors"
	"net/http"
	"net/url"
	"regexp"
	"strings"

	"github.com/invopop/jsonschema"
	"github.com/rotajobs/rota"
)

// Headers are the headers of a request by name.
type Headers map[string]string

// SecretHeaders are the headers of a request by name. A value may have references to secrets: ${secret:KEY}.
type SecretHeaders map[string]string

// The formats of headers in a schema.
const (
	headerFormat       = "rota-header"        // a name
	headerValueFormat  = "rota-header-value"  // of any header
	secretHeaderFormat = "rota-secret-header" // a value with references to secrets
	hostFormat         = "rota-host"          // of the header Host
)

// JSONSchema is the schema of the headers.
func (Headers) JSONSchema() *jsonschema.Schema { return headersWithValues(headerValueFormat) }

// JSONSchema is the schema of the headers.
func (SecretHeaders) JSONSchema() *jsonschema.Schema { return headersWithValues(secretHeaderFormat) }

func headersWithValues(format string) *jsonschema.Schema {
	most := uint64(100)
	return &jsonschema.Schema{
		Type: "object", MaxProperties: &most, Description: "headers by their names",
		PropertyNames:        &jsonschema.Schema{Format: headerFormat},
		PatternProperties:    map[string]*jsonschema.Schema{"^(?i:host)$": {Type: "string", Format: hostFormat}},
		AdditionalProperties: &jsonschema.Schema{Type: "string", Format: format},
	}
}

// transportHeaders are the headers that control the connection, not the content. The client sets them.
var transportHeaders = map[string]bool{
	"Connection": true, "Content-Length": true, "Expect": true, "Keep-Alive": true, "Proxy-Authorization": true, "Proxy-Connection": true,
	"Te": true, "Trailer": true, "Transfer-Encoding": true, "Upgrade": true,
}

var isToken = regexp.MustCompile("^[0-9A-Za-z!#$%&'*+.^_`|~-]+$").MatchString

func checkHeader(v any) error {
	name, is := v.(string)
	switch {
	case !is:
		return nil
	case !isToken(name):
		return errors.New("is not the name of a header; write letters, digits and dashes, such as X-Tenant")
	case transportHeaders[http.CanonicalHeaderKey(name)]:
		return errors.New("is set by the HTTP client; remove it")
	}
	return nil
}

func checkHeaderValue(v any) error {
	text, is := v.(string)
	if is && strings.ContainsFunc(text, func(r rune) bool { return r < ' ' && r != '\t' || r == 0x7f }) {
		return errors.New("has a line break or another control character; write it on one line")
	}
	return nil
}

// checkSecretHeader never repeats the value: it may contain a password.
func checkSecretHeader(v any) error {
	if err := checkHeaderValue(v); err != nil {
		return err
	}
	text, _ := v.(string)
	const remedy = "; write ${secret:KEY} with the key of a secret of the template"
	for {
		_, rest, found := strings.Cut(text, "${secret:")
		if !found {
			return nil
		}
		key, after, closed := strings.Cut(rest, "}")
		if !closed {
			return errors.New("has a reference to a secret without } at its end" + remedy)
		}
		var refusal *rota.Error
		if errors.As(rota.CheckSecretKey("key", key), &refusal) {
			return errors.New("has a reference to a secret whose key " + refusal.Reason + remedy)
		}
		text = after
	}
}

func checkHost(v any) error {
	text, is := v.(string)
	if !is {
		return nil
	}
	u, err := url.Parse("http://" + text)
	if err != nil || u.Host != text || u.Hostname() == "" || !isPort(u.Port()) {
		return errors.New("is not a host; write a name, and a port if there is one, such as example.com:8080")
	}
	return nil
}
