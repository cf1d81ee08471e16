package payload

import (
	"encoding/json"
	"strconv"
	"sync"

	"github.com/rotajobs/rota"
)

// SchemaCache checks params against the schemas of the types in a store. It keeps
// one compiled schema for each type, that of the version used last. It is safe
// for concurrent use.
type SchemaCache struct {
	mu      sync.RWMutex
	entries map[string]cacheEntry
	own     func(typ string, params json.RawMessage) error // see ValidateWith; nil: none
}

// cacheEntry is the compiled schema of one type, or the error of compiling it.
type cacheEntry struct {
	version  rota.ID
	compiled *Compiled
	err      error
}

// schemasMax bounds the compiled schemas in a cache.
const schemasMax = 1_000

// NewSchemaCache returns an empty cache.
func NewSchemaCache() *SchemaCache { return &SchemaCache{entries: map[string]cacheEntry{}} }

// ValidateWith sets a function that Check calls for params that match the schema, such as
// engine.Engine.ValidateParams: it knows what the Go types of this process refuse.
func (s *SchemaCache) ValidateWith(own func(typ string, params json.RawMessage) error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.own = own
}

// Check checks params against the schema of a type. A type without a schema
// accepts every object. A schema that does not compile is an Invalid error with
// the field "type", because a store does not check schemas when a type is declared.
func (s *SchemaCache) Check(t *rota.Type, params json.RawMessage) error {
	if err := s.check(t, params, (*Compiled).Check); err != nil {
		return err
	}
	s.mu.RLock()
	own := s.own
	s.mu.RUnlock()
	if own == nil {
		return nil
	}
	return own(t.Name, params)
}

// CheckPartial checks params that others complete; see Compiled.CheckPartial. It does not
// call the function of ValidateWith, which may refuse params because some are missing.
func (s *SchemaCache) CheckPartial(t *rota.Type, params json.RawMessage) error {
	return s.check(t, params, (*Compiled).CheckPartial)
}

func (s *SchemaCache) check(t *rota.Type, params json.RawMessage, by func(*Compiled, json.RawMessage) error) error {
	if len(t.Spec.Schema) == 0 {
		return anyObject(params)
	}
	p := s.lookup(t)
	if p.err != nil {
		return p.err
	}
	return by(p.compiled, params)
}

// anyObject checks the params of a type without a schema.
func anyObject(params json.RawMessage) error {
	if len(params) == 0 {
		return nil
	}
	doc, err := parseDocument("params", params, depthMax)
	if err != nil {
		return err
	}
	if _, is := doc.value.(map[string]any); !is {
		return rota.Invalidf("params", "is %s; params are an object", kindOf(doc.value))
	}
	return nil
}

func (s *SchemaCache) lookup(t *rota.Type) cacheEntry {
	s.mu.RLock()
	p, known := s.entries[t.Name]
	s.mu.RUnlock()
	if known && p.version == t.Version && !t.Version.IsZero() {
		return p
	}
	p = cacheEntry{version: t.Version}
	p.compiled, p.err = Compile(t.Spec.Schema)
	if p.err != nil {
		p.err = &rota.Error{
			Code: rota.Invalid, Field: "type", Reason: "the schema of type " + strconv.Quote(t.Name) + " cannot be used", Err: p.err,
			Hint: "declare the type again with a valid schema",
		}
	}
	if !t.Version.IsZero() { // without a version, a change of the schema would not be noticed
		s.add(t.Name, p)
	}
	return p
}

// add stores an entry and removes arbitrary others while the cache is full. A
// schema that was removed is compiled again at its next use.
func (s *SchemaCache) add(name string, p cacheEntry) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for other := range s.entries {
		if len(s.entries) < schemasMax {
			break
		}
		delete(s.entries, other)
	}
	if s.entries == nil {
		s.entries = map[string]cacheEntry{}
	}
	s.entries[name] = p
}
