// Package definitions exports the definitions of a store as one document, and applies such a document: types,
// templates, schedules, limits and webhooks. It also checks the definitions that single requests name.
//
// An import compares the document with the store and plans the commands that make the store match it. The plan
// reports everything that is invalid, not only the first error. A document of up to 500 changes is written atomically.
package definitions

import (
	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/payload"
)

// Sync exports and imports the definitions of a store. Store and Schemas are required.
type Sync struct {
	Store   rota.Store
	Schemas *payload.SchemaCache

	// Handles reports whether this process runs jobs of a type and declares the type itself. Nil: none.
	Handles  func(typ string) bool
	BytesMax int64 // approximate size of the largest export
}

func (s *Sync) handles(typ string) bool { return s.Handles != nil && s.Handles(typ) }
