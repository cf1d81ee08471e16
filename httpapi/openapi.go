package httpapi

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"

	"github.com/danielgtaylor/huma/v2"
)

// openAPI returns the base of the OpenAPI document. Huma serves nothing itself: neither pages that
// load external scripts nor links inside bodies.
func openAPI(version string) huma.Config {
	return huma.Config{
		OpenAPI: &huma.OpenAPI{
			OpenAPI: "3.1.0",
			Info: &huma.Info{
				Title: "Rota", Version: version,
				Description: "Durable job scheduler, queue and runner.\n\n" +
					"Errors are application/problem+json. Lists return a page of items and a next_cursor, which is null on the last page. " +
					"Writes accept an Idempotency-Key. Times are RFC 3339 in UTC; durations are text with a unit. " +
					"Unknown fields and parameters are refused.",
			},
			Servers:    []*huma.Server{{URL: "/"}},
			Components: &huma.Components{Schemas: huma.NewMapRegistry("#/components/schemas/", schemaName), SecuritySchemes: securitySchemes()},
			Tags: []*huma.Tag{
				{Name: "Jobs", Description: "Each job is one attempt of an execution."},
				{Name: "Executions", Description: "Each execution is a job and its retries."},
				{Name: "Groups", Description: "Sets of jobs that belong together."},
				{Name: "Workers", Description: "Protocol of remote workers, in any language: claim jobs, extend leases, report outcomes."},
				{Name: "Webhooks", Description: "Receivers of events."},
				{Name: "Types", Description: "Kinds of jobs, with the schema of their params."},
				{Name: "Templates", Description: "Reusable job definitions: a type, default params, a policy."},
				{Name: "Schedules", Description: "Times at which templates are run."},
				{Name: "Limits", Description: "Limits on concurrency and start rate."},
				{Name: "Access", Description: "Users, roles, privileges and tokens."},
				{Name: "SQL", Description: "Statements that define and run jobs, and queries over the sys tables."},
				{Name: "Server", Description: "Events, audit, statistics, definitions, backup and checks."},
			},
		},
		Formats: map[string]huma.Format{"application/json": huma.DefaultJSONFormat},
	}
}

func securitySchemes() map[string]*huma.SecurityScheme {
	return map[string]*huma.SecurityScheme{
		"token": {Type: "http", Scheme: "bearer", Description: "The admin token is in the file admin.token of the data directory."},
	}
}

// schemaName names the schema of a type; a page of T is TList.
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

// allowNull adds null to the schemas of nullable fields where huma does not: an enum without null, or
// a reference, would forbid it.
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

// rawExample decodes the example of a body.
func rawExample(text string) any {
	var v any
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		panic("httpapi: the example " + text + " is not JSON")
	}
	return v
}
