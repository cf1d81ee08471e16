package payload

import (
	"encoding/json"
	"reflect"
	"sync"

	"github.com/rotajobs/rota"
)

// Checker holds the payloads of a Go program to the schemas of their types. It
// is what rota.WithChecker takes, and is safe for concurrent use.
type Checker struct {
	types sync.Map // of reflect.Type to *described
}

// described is the schema of a Go type, or why it has none.
type described struct {
	schema   json.RawMessage
	compiled *Compiled
	err      error
}

// NewChecker makes a checker that has seen no type yet.
func NewChecker() *Checker { return &Checker{} }

// Schema is the schema of the payload's Go type.
func (c *Checker) Schema(p rota.Payload) (json.RawMessage, error) {
	d := c.describe(p)
	return d.schema, d.err
}

// Check holds params to the schema of the payload's Go type.
func (c *Checker) Check(p rota.Payload, params json.RawMessage) error {
	d := c.describe(p)
	if d.err != nil {
		return d.err
	}
	return d.compiled.Check(params)
}

func (c *Checker) describe(p rota.Payload) *described {
	t := reflect.TypeOf(p)
	if d, known := c.types.Load(t); known {
		return d.(*described)
	}
	d := &described{}
	d.schema, d.compiled, d.err = schemaOf(t)
	first, _ := c.types.LoadOrStore(t, d)
	return first.(*described)
}
