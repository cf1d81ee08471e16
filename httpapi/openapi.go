package httpapi

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"

	"github.com/danielgtaylor/huma/v2"
)

// openAPI is the frame of the OpenAPI document. Huma serves nothing by itself:
// neither pages that load scripts from elsewhere nor links inside bodies.
func openAPI(version string) huma.Config {
	return huma.Config{
		OpenAPI: &huma.OpenAPI{
			OpenAPI: "3.1.0",
			Info: &huma.Info{
				Title: "Rota", Version: version,
				Description: "Rota runs jobs on time, in order, once, and remembers all of it.\n\n" +
					"Errors are application/problem+json. Lists answer a page of items and a next_cursor, which is null on the last. " +
					"Writes take an Idempotency-Key. Times are RFC 3339 in UTC, lengths of time text with a unit. " +
					"A field that is not known is refused, and so is a parameter.",
			},
			Servers:    []*huma.Server{{URL: "/"}},
			Components: &huma.Components{Schemas: huma.NewMapRegistry("#/components/schemas/", schemaName), SecuritySchemes: securitySchemes()},
			Tags: []*huma.Tag{
				{Name: "Jobs", Description: "One attempt each, in the queue or out of it."},
				{Name: "Executions", Description: "A job and its retries."},
				{Name: "Groups", Description: "Jobs that belong together."},
				{Name: "Workers", Description: "How programs elsewhere, in any language, take jobs and tell how they ended."},
				{Name: "Webhooks", Description: "Addresses that are told of what happens."},
				{Name: "Types", Description: "What can be run."},
				{Name: "Templates", Description: "What to run: a type, default params, a policy."},
				{Name: "Schedules", Description: "When templates are run."},
				{Name: "Limits", Description: "How much may run at once and how fast it may start."},
				{Name: "SQL", Description: "Statements that define jobs and run them, and queries over the tables of sys."},
				{Name: "Server", Description: "What happens, what happened, and the store itself."},
			},
		},
		Formats: map[string]huma.Format{"application/json": huma.DefaultJSONFormat},
	}
}

func securitySchemes() map[string]*huma.SecurityScheme {
	return map[string]*huma.SecurityScheme{
		"token": {Type: "http", Scheme: "bearer", Description: "The admin's token stands in the file admin.token of the data directory."},
	}
}

// schemaName is the name of a type, a page of which is a list.
func schemaName(t reflect.Type, hint string) string {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	name, inner, generic := strings.Cut(t.Name(), "[")
	if !generic {
		return huma.DefaultSchemaNamer(t, hint)
	}
	inner = strings.TrimSuffix(inner, "]")
	return inner[strings.LastIndexByte(inner, '.')+1:] + name
}

// allowNull says of fields that may be null that they may, where the frame does
// not: a list of words that lacks null forbids it, and so does a shape.
func allowNull(schemas huma.Registry) {
	for _, schema := range schemas.Map() {
		for name, field := range schema.Properties {
			switch {
			case field.Nullable && len(field.Enum) > 0 && !slices.Contains(field.Enum, nil):
				field.Enum = append(field.Enum, nil)
			case name == "run" && field.Ref != "": // null until the job is dispatched
				field.OneOf, field.Ref = []*huma.Schema{{Ref: field.Ref}, {Type: "null"}}, ""
			}
		}
	}
}

// rawExample is an example as it stands in the document.
func rawExample(text string) any {
	var v any
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		panic("httpapi: the example " + text + " is not JSON")
	}
	return v
}
