package payload

import (
	"encoding/json"
	"errors"
	"fmt"
	"sync"

	"github.com/rotajobs/rota"
	"github.com/santhosh-tekuri/jsonschema/v6"
)

// Compiled is a schema that params can be held to. It is safe for concurrent
// use.
type Compiled struct {
	schema    any       // as it was read
	lean      any       // as it is run
	costliest int       // the costliest enum
	plain     *plain    // nil if it says more than a plain one can
	programs  sync.Pool // of *program: each runs one check at a time
}

// program is a schema ready to run, and the purse that its checks are paid from.
type program struct {
	schema *jsonschema.Schema
	purse  *purse
}

// schemaNodesMost bounds the parts of a schema, since compiling compares each
// with each.
const schemaNodesMost = 10_000

// location is what the schema goes by inside the validator.
const location = "rota:///schema"

// Compile reads a JSON Schema, of draft 2020-12 unless it names another. A bad
// one is Invalid, and the field says where, such as schema.properties.to.type.
// A $ref leads to a place in the same schema: no other is ever loaded.
func Compile(schema json.RawMessage) (*Compiled, error) {
	if len(schema) > rota.SchemaMax {
		return nil, rota.Invalidf("schema", "has %d bytes; at most %d are allowed", len(schema), rota.SchemaMax)
	}
	doc, err := read("schema", schema, schemaDepth)
	if err != nil {
		return nil, err
	}
	object, is := doc.value.(map[string]any)
	if !is {
		return nil, rota.Invalidf("schema", "is %s; a schema is an object", kindOf(doc.value))
	}
	if doc.nodes > schemaNodesMost {
		return nil, rota.Invalidf("schema", "has %d parts; at most %d are allowed", doc.nodes, schemaNodesMost)
	}
	s := &survey{schemas: map[string]any{}, anchors: map[string]string{}}
	if err := s.look(object, place{root: "schema"}); err != nil {
		return nil, err
	}
	if err := checkDraft(object); err != nil {
		return nil, err
	}
	if err := s.resolve(); err != nil {
		return nil, err
	}
	if err := s.ends(object); err != nil {
		return nil, err
	}
	c := &Compiled{schema: object, lean: hoistSchema(object), costliest: s.costliest}
	p, err := c.program()
	if err != nil {
		return nil, explain(object, err)
	}
	c.programs.Put(p)
	c.plain = plainOf(object)
	return c, nil
}

// program takes one that is free, or makes one.
func (c *Compiled) program() (*program, error) {
	if p, is := c.programs.Get().(*program); is {
		return p, nil
	}
	p := &program{purse: &purse{}}
	compiler := newCompiler(p.purse)
	compiler.AssertVocabs()
	compiler.RegisterVocabulary(toll(p.purse))
	if err := compiler.AddResource(location, c.lean); err != nil {
		return nil, err
	}
	var err error
	p.schema, err = compile(compiler, location)
	return p, err
}

func newCompiler(p *purse) *jsonschema.Compiler {
	c := jsonschema.NewCompiler()
	c.DefaultDraft(jsonschema.Draft2020)
	c.UseLoader(nowhere{})
	c.UseRegexpEngine(patterns(p))
	c.AssertFormat()
	c.RegisterFormat(&jsonschema.Format{Name: durationFormat, Validate: checkDuration})
	c.RegisterFormat(&jsonschema.Format{Name: urlFormat, Validate: checkURL})
	c.RegisterFormat(&jsonschema.Format{Name: headerFormat, Validate: checkHeader})
	c.RegisterFormat(&jsonschema.Format{Name: headerValueFormat, Validate: checkHeaderValue})
	c.RegisterFormat(&jsonschema.Format{Name: hostFormat, Validate: checkHost})
	c.AssertContent()
	c.RegisterContentMediaType(&jsonschema.MediaType{Name: "application/json", Validate: validJSON, UnmarshalJSON: readJSON})
	return c
}

// compile turns a panic of the compiler into an error: schemas come from
// strangers.
func compile(c *jsonschema.Compiler, name string) (compiled *jsonschema.Schema, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("it cannot be compiled: %v", r)
		}
	}()
	return c.Compile(name)
}

// metaschemas are the schemas of schemas, by draft.
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

// checkDraft holds a schema to the rules of its draft.
func checkDraft(schema map[string]any) error {
	metas, err := metaschemas()
	if err != nil {
		return rota.Errorf(rota.Internal, "compile a schema", "the drafts of JSON Schema: %w", err)
	}
	draft := jsonschema.Draft2020
	if name, is := schema["$schema"].(string); is {
		draft = draftOf(name)
	}
	return explain(schema, metas[draft].Validate(schema))
}

func validJSON(text []byte) error {
	_, err := read("it", text, depthMost)
	return err
}

func readJSON(text []byte) (any, error) {
	d, err := read("it", text, depthMost)
	return d.value, err
}

// nowhere is where other schemas are loaded from.
type nowhere struct{}

var errElsewhere = errors.New("a schema elsewhere is never loaded")

func (nowhere) Load(string) (any, error) { return nil, errElsewhere }

// explain says in plain words what is wrong with a schema, and where.
func explain(schema any, err error) error {
	var validation *jsonschema.ValidationError
	var regex *jsonschema.InvalidRegexError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &validation):
		return problemsOf(reader{root: "schema", value: schema}, validation).ofSchema()
	case errors.As(err, &regex):
		return rota.Invalidf(pathOf("schema", schema, tokensOf(regex.URL)), "%s is not a pattern: %v", show(regex.Regex), regex.Err)
	}
	return &rota.Error{Code: rota.Invalid, Field: "schema", Reason: "cannot be used", Err: err}
}
