// Package payload knows what the params of a job look like: it writes the JSON
// Schema of a Go type, and holds params to a schema before a job is accepted and
// again before it runs. What is wrong is said in plain words and names the field,
// such as "params.items[2].to: is missing".
//
// [Schema] writes a schema, [Compile] reads one, and [Compiled.Check] holds
// params to it. A [Checker] does both for the payloads of a Go program, a [Book]
// for the types that a store knows.
//
// Schemas and params come from strangers: no schema is ever loaded from
// elsewhere, patterns are those of package regexp, which cannot run away, and
// the work of one check is bounded by the size of the params.
package payload
