// Package payload validates the params of jobs. It generates the JSON Schema of
// a Go type, and checks params against a schema before a job is accepted and
// again before it runs. Each error names the field and the problem, such as
// "params.items[2].to: is missing".
//
// [Schema] generates a schema, [Compile] compiles one, and [Compiled.Check]
// checks params against it. A [Checker] does both for the payloads of a Go
// program. A [SchemaCache] does it for the types in a store.
//
// Schemas and params are untrusted input. The package loads no remote schema.
// Patterns use package regexp, which runs in linear time. The size of the params
// bounds the work of one check.
package payload
