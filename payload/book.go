package payload

import (
	"encoding/json"
	"strconv"
	"sync"

	"github.com/rotajobs/rota"
)

// Book holds params to the schemas of the types that a store knows. It keeps
// the schemas compiled, of each type the version that was asked for last, and is
// safe for concurrent use.
type Book struct {
	mu    sync.RWMutex
	pages map[string]page
}

// page is the schema of one type, or why it cannot be used.
type page struct {
	version  rota.ID
	compiled *Compiled
	err      error
}

// pagesMost bounds the schemas that a book keeps compiled.
const pagesMost = 1_000

// NewBook makes an empty book.
func NewBook() *Book { return &Book{pages: map[string]page{}} }

// Check holds params to the schema of a type. A type without one takes every
// object. A schema that cannot be used is Invalid with the field "type": no store
// looks at schemas when a type is declared.
func (b *Book) Check(t *rota.Type, params json.RawMessage) error {
	if len(t.Spec.Schema) == 0 {
		return anyObject(params)
	}
	p := b.page(t)
	if p.err != nil {
		return p.err
	}
	return p.compiled.Check(params)
}

// anyObject is the schema of a type that has none.
func anyObject(params json.RawMessage) error {
	if len(params) == 0 {
		return nil
	}
	doc, err := read("params", params, depthMost)
	if err != nil {
		return err
	}
	if _, is := doc.value.(map[string]any); !is {
		return rota.Invalidf("params", "is %s; params are an object", kindOf(doc.value))
	}
	return nil
}

func (b *Book) page(t *rota.Type) page {
	b.mu.RLock()
	p, known := b.pages[t.Name]
	b.mu.RUnlock()
	if known && p.version == t.Version && !t.Version.IsZero() {
		return p
	}
	p = page{version: t.Version}
	p.compiled, p.err = Compile(t.Spec.Schema)
	if p.err != nil {
		p.err = &rota.Error{
			Code: rota.Invalid, Field: "type", Reason: "the schema of type " + strconv.Quote(t.Name) + " cannot be used", Err: p.err,
			Hint: "declare the type again with a schema that is right",
		}
	}
	if !t.Version.IsZero() { // one that no store has numbered may change unseen
		b.keep(t.Name, p)
	}
	return p
}

// keep makes room by forgetting any other: what is asked for again is compiled
// again.
func (b *Book) keep(name string, p page) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for other := range b.pages {
		if len(b.pages) < pagesMost {
			break
		}
		delete(b.pages, other)
	}
	b.pages[name] = p
}
