package httpapi

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"slices"
	"testing"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"
)

// secretFields are the names of fields that hold a password or a secret.
var secretFields = []string{"password", "secret", "secrets", "value", "sql", "statement"}

// holdsSecret returns the name of such a field in a schema, empty if there is none.
func holdsSecret(r huma.Registry, s *huma.Schema, seen map[string]bool) string {
	if s == nil || s.Ref != "" && seen[s.Ref] {
		return ""
	}
	if s.Ref != "" {
		seen[s.Ref] = true
		return holdsSecret(r, r.SchemaFromRef(s.Ref), seen)
	}
	for name, field := range s.Properties {
		if slices.Contains(secretFields, name) {
			return name
		}
		if found := holdsSecret(r, field, seen); found != "" {
			return name + "." + found
		}
	}
	inner := append(slices.Concat(s.AllOf, s.AnyOf, s.OneOf), s.Items)
	if values, is := s.AdditionalProperties.(*huma.Schema); is {
		inner = append(inner, values)
	}
	for _, one := range inner {
		if found := holdsSecret(r, one, seen); found != "" {
			return found
		}
	}
	return ""
}

// TestBodiesWithSecretsAreHashedSlowly: the hash of the body of a request with an idempotency key is stored, so a secret must not be easy
// to guess from it.
func TestBodiesWithSecretsAreHashedSlowly(t *testing.T) {
	a := &server{mux: http.NewServeMux()}
	a.doc = humago.New(a.mux, openAPI("test"))
	a.routes()
	slow := map[string]bool{}
	for path, item := range a.doc.OpenAPI().Paths {
		for _, op := range []*huma.Operation{item.Post, item.Put, item.Patch, item.Delete} {
			if op == nil || op.RequestBody == nil || len(op.Security[0]) == 0 { // a public operation takes no key
				continue
			}
			name := op.Method + " " + path
			slow[name] = op.Metadata[metaSecret].(bool)
			field := holdsSecret(a.doc.OpenAPI().Components.Schemas, op.RequestBody.Content["application/json"].Schema, map[string]bool{})
			if field != "" && !slow[name] {
				t.Errorf("%s takes %s, and its body is hashed fast", name, field)
			}
		}
	}
	for _, name := range []string{
		"PUT " + base + "/secrets/{template}/{key}", "PUT " + base + "/webhooks", "POST " + base + "/webhooks/test", "POST " + base + "/templates",
		"PATCH " + base + "/templates/{name}", "PUT " + base + "/definitions", "POST " + base + "/sql", "POST " + base + "/users", "PATCH " + base + "/users/{name}",
	} {
		if !slow[name] {
			t.Errorf("%s is hashed fast", name)
		}
	}
}

// BenchmarkSecretHash shows what a key costs a request whose body may have a secret.
func BenchmarkSecretHash(b *testing.B) {
	for name, size := range map[string]int{"webhook": 200, "definitions": 1 << 20} {
		b.Run(name, func(b *testing.B) {
			c := &call{op: &operation{secret: true}, key: "key", r: httptest.NewRequest(http.MethodPut, "/", nil)}
			body := bytes.Repeat([]byte("x"), size)
			for b.Loop() {
				c.requestHash(body)
			}
		})
	}
}
