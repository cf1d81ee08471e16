package payload

import (
	"encoding/json"
	"errors"
	"fmt"
	"sync"

	"github.com/rotajobs/rota"
	"github.com/santhosh-tekuri/jsonschema/v6"
)

// Compiled is a compiled schema. It is safe for concurrent use.
type Compiled struct {
	schema        any         // as parsed
	prepared      any         // after hoist, as the validator runs it
	costliestEnum int         // cost of comparing a value with the longest enum
	fastPath      *flatSchema // nil: the schema is not flat
	programs      sync.Pool   // of *program; each runs one check at a time

	relaxOnce sync.Once
	partial   *Compiled // for CheckPartial
}

// program is a schema compiled for the validator, with the budget of its checks.
type program struct {
	schema *jsonschema.Schema
	budget *budget
}

// schemaNodesMax bounds the parts of a schema, because compiling compares
// each with each.
const schemaNodesMax = 10_000

// location is the URL of the schema inside the validator.
const location = "rota:///schema"

// Compile compiles a JSON Schema, of draft 2020-12 unless $schema names another.
// The error about an invalid schema is Invalid, and its field is the path, such as
// schema.properties.to.type. A $ref must refer to the same document: Compile loads
// no other.
func Compile(schema json.RawMessage) (*Compiled, error) {
	if len(schema) > rota.SchemaMax {
		return nil, rota.Invalidf("schema", "has %d bytes; at most %d are allowed", len(schema), rota.SchemaMax)
	}
	doc, err := parseDocument("schema", schema, schemaDepth)
	if err != nil {
		return nil, err
	}
	object, is := doc.value.(map[string]any)
	if !is {
		return nil, rota.Invalidf("schema", "is %s; a schema is an object", kindOf(doc.value))
	}
	if doc.nodes > schemaNodesMax {
		return nil, rota.Invalidf("schema", "has %d parts; at most %d are allowed", doc.nodes, schemaNodesMax)
	}
	s := &schemaIndex{schemas: map[string]any{}, anchors: map[string]string{}}
	if err := s.addSchema(object, docPath{root: "schema"}); err != nil {
		return nil, err
	}
	if err := checkDraft(object); err != nil {
		return nil, err
	}
	if err := s.checkReferences(); err != nil {
		return nil, err
	}
	if err := s.checkCycles(object); err != nil {
		return nil, err
	}
	c := &Compiled{schema: object, prepared: hoistSchema(object), costliestEnum: s.costliestEnum}
	p, err := c.program()
	if err != nil {
		return nil, schemaError(object, err)
	}
	c.programs.Put(p)
	c.fastPath = flatSchemaOf(object)
	return c, nil
}

// program returns a free program, or compiles one.
func (c *Compiled) program() (*program, error) {
	if p, is := c.programs.Get().(*program); is {
		return p, nil
	}
	p := &program{budget: &budget{}}
	compiler := newCompiler(p.budget)
	compiler.AssertVocabs()
	compiler.RegisterVocabulary(costVocabulary(p.budget))
	if err := compiler.AddResource(location, c.prepared); err != nil {
		return nil, err
	}
	var err error
	p.schema, err = compile(compiler, location)
	return p, err
}

func newCompiler(p *budget) *jsonschema.Compiler {
	c := jsonschema.NewCompiler()
	c.DefaultDraft(jsonschema.Draft2020)
	c.UseLoader(refusingLoader{})
	c.UseRegexpEngine(patterns(p))
	c.AssertFormat()
	c.RegisterFormat(&jsonschema.Format{Name: durationFormat, Validate: checkDuration})
	c.RegisterFormat(&jsonschema.Format{Name: urlFormat, Validate: checkURL})
	c.RegisterFormat(&jsonschema.Format{Name: headerFormat, Validate: checkHeader})
	c.RegisterFormat(&jsonschema.Format{Name: headerValueFormat, Validate: checkHeaderValue})
	c.RegisterFormat(&jsonschema.Format{Name: secretHeaderFormat, Validate: checkSecretHeader})
	c.RegisterFormat(&jsonschema.Format{Name: hostFormat, Validate: checkHost})
	c.AssertContent()
	c.RegisterContentMediaType(&jsonschema.MediaType{Name: "application/json", Validate: validJSON, UnmarshalJSON: readJSON})
	return c
}

// compile returns a panic of the compiler as an error, because schemas are
// untrusted input.
func compile(c *jsonschema.Compiler, name string) (compiled *jsonschema.Schema, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("it cannot be compiled: %v", r)
		}
	}()
	return c.Compile(name)
}

// metaschemas returns the schema of schemas for each draft.
var metaschemas = sync.OnceValues(func() (map[*jsonschema.Draft]*jsonschema.Schema, error) {
	all := map[*jsonschema.Draft]*jsonschema.Schema{}
	for _, draft := range drafts {
		meta, err := compile(newCompiler(nil), draft.String())
		if err != nil {
			return nil, err
		}
		all[draft] = meta
	}
	return all, nil
})

// checkDraft checks a schema against the metaschema of its draft.
func checkDraft(schema map[string]any) error {
	metas, err := metaschemas()
	if err != nil {
		return rota.Errorf(rota.Internal, "compile a schema", "the metaschemas do not compile: %w", err)
	}
	draft := jsonschema.Draft2020
	if name, is := schema["$schema"].(string); is {
		draft = draftOf(name)
	}
	return schemaError(schema, metas[draft].Validate(schema))
}

func validJSON(text []byte) error {
	_, err := parseDocument("it", text, depthMax)
	return err
}

func readJSON(text []byte) (any, error) {
	d, err := parseDocument("it", text, depthMax)
	return d.value, err
}

// refusingLoader is a loader of the validator that loads no remote schema.
type refusingLoader struct{}

var errRemoteSchema = errors.New("remote schemas are not loaded")

func (refusingLoader) Load(string) (any, error) { return nil, errRemoteSchema }

// schemaError converts an error of the compiler to one that names the path and the problem.
func schemaError(schema any, err error) error {
	var validation *jsonschema.ValidationError
	var regex *jsonschema.InvalidRegexError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &validation):
		return problemsOf(errorFormatter{root: "schema", value: schema}, validation).asSchemaError()
	case errors.As(err, &regex):
		return rota.Invalidf(pathOf("schema", schema, tokensOf(regex.URL)), "%s is not a pattern: %v", quoteTruncated(regex.Regex), regex.Err)
	}
	return &rota.Error{Code: rota.Invalid, Field: "schema", Reason: "cannot be used", Err: err}
}
