package payload

import (
	"encoding/json"
	"reflect"
	"sync"

	"github.com/rotajobs/rota"
)

// Checker checks the payloads of a Go program against the schemas of their types.
// It implements rota.Checker, for rota.WithChecker, and is safe for concurrent use.
type Checker struct {
	types   sync.Map // *typeSchema by reflect.Type
	schemas SchemaCache
}

// typeSchema is the schema of a Go type, or the error of generating it.
type typeSchema struct {
	schema   json.RawMessage
	compiled *Compiled
	err      error
}

// Clients without a checker of their own use one of this package.
func init() { rota.RegisterChecker(NewChecker()) }

// NewChecker returns a checker without any schemas.
func NewChecker() *Checker { return &Checker{} }

// Schema returns the schema of the payload's Go type.
func (c *Checker) Schema(p rota.Payload) (json.RawMessage, error) {
	d := c.describe(p)
	return d.schema, d.err
}

// Check checks params against the schema of the payload's Go type.
func (c *Checker) Check(p rota.Payload, params json.RawMessage) error {
	d := c.describe(p)
	if d.err != nil {
		return d.err
	}
	return d.compiled.Check(params)
}

// CheckType checks params against the schema of a declared type.
func (c *Checker) CheckType(t *rota.Type, params json.RawMessage) error {
	return c.schemas.Check(t, params)
}

func (c *Checker) describe(p rota.Payload) *typeSchema {
	t := reflect.TypeOf(p)
	if d, known := c.types.Load(t); known {
		return d.(*typeSchema)
	}
	d := &typeSchema{}
	d.schema, d.compiled, d.err = schemaOf(t)
	first, _ := c.types.LoadOrStore(t, d)
	return first.(*typeSchema)
}
