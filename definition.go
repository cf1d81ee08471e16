package rota

import (
	"bytes"
	"encoding/json"
	"time"
)

// Type is the name of a kind of job, with a payload schema. A store accepts jobs of
// undeclared types. A declared type has a policy and can be paused.
type Type struct {
	Name      string    `wire:"1"`
	Spec      TypeSpec  `wire:"2"`
	Paused    bool      `wire:"3"` // its jobs are not started
	Version   ID        `wire:"4"` // id of the last command that changed it
	CreatedBy string    `wire:"5"`
	CreatedAt time.Time `wire:"6"`
	UpdatedAt time.Time `wire:"7"`
}

// TypeSpec is the declaration of a type.
type TypeSpec struct {
	Description string          `wire:"1" json:"description,omitempty"`
	Schema      json.RawMessage `wire:"2" json:"schema,omitempty"` // JSON Schema of params; checked by clients and servers, not by stores
	Policy      PolicyPatch     `wire:"3" json:"policy"`
}

// Canonical returns the specification as stored.
func (s TypeSpec) Canonical() TypeSpec { return canonical(s) }

// Equal reports whether two specifications have the same stored form.
func (s TypeSpec) Equal(other TypeSpec) bool {
	return bytes.Equal(EncodeSpec(s.Canonical()), EncodeSpec(other.Canonical()))
}

// TemplateState is whether new jobs of a template are accepted.
type TemplateState string

// The states of a template.
const (
	TemplateActive   TemplateState = "ACTIVE"
	TemplateArchived TemplateState = "ARCHIVED" // kept for its existing jobs; new jobs are refused
)

// Template is what to run: a type, default params and a policy.
type Template struct {
	Name      string        `wire:"1"`
	Spec      TemplateSpec  `wire:"2"`
	State     TemplateState `wire:"3"`
	Owner     string        `wire:"4"` // user with all rights on it; empty: its definition was dropped, and the next one of its name takes it over
	Since     time.Time     `wire:"5"` // when this definition began; grants that are older do not apply to it
	Version   ID            `wire:"6"` // id of the last command that changed it
	CreatedBy string        `wire:"7"`
	CreatedAt time.Time     `wire:"8"`
	UpdatedAt time.Time     `wire:"9"`
}

// TemplateSpec is the declaration of a template.
type TemplateSpec struct {
	Type           string          `wire:"1" json:"type"`
	Description    string          `wire:"2" json:"description,omitempty"`
	Params         json.RawMessage `wire:"3" json:"params,omitempty"` // defaults, overlaid key by key
	Priority       *int            `wire:"4" json:"priority,omitempty"`
	Policy         PolicyPatch     `wire:"5" json:"policy"`
	UniqueFor      time.Duration   `wire:"6" json:"unique_for,omitempty"`      // default for requests with a unique key
	ConcurrencyKey string          `wire:"7" json:"concurrency_key,omitempty"` // default for requests
	Webhooks       []Webhook       `wire:"8" json:"webhooks,omitempty"`        // notified of jobs of this template
}

// Canonical returns the specification as stored.
func (s TemplateSpec) Canonical() TemplateSpec {
	s.UniqueFor = s.UniqueFor.Truncate(time.Microsecond)
	return canonical(s)
}

// Equal reports whether two specifications have the same stored form.
func (s TemplateSpec) Equal(other TemplateSpec) bool {
	return bytes.Equal(EncodeSpec(s.Canonical()), EncodeSpec(other.Canonical()))
}

// MergeParams overlays JSON objects key by key; a later object wins. Nested values are
// replaced, not merged. If only one object has keys, its text is returned unchanged.
// Otherwise the keys are sorted, so equal objects give equal text.
func MergeParams(layers ...json.RawMessage) json.RawMessage {
	if only, alone := onlyLayer(layers); alone {
		return only
	}
	merged := map[string]json.RawMessage{}
	only, count := json.RawMessage("{}"), 0
	for _, layer := range layers {
		var fields map[string]json.RawMessage
		if json.Unmarshal(layer, &fields) != nil || len(fields) == 0 {
			continue
		}
		only, count = layer, count+1
		for k, v := range fields {
			merged[k] = v
		}
	}
	if count < 2 {
		return only
	}
	return EncodeSpec(merged)
}

// onlyLayer returns the only layer with keys, if that can be decided without parsing
// JSON.
func onlyLayer(layers []json.RawMessage) (only json.RawMessage, alone bool) {
	only = json.RawMessage("{}")
	for _, layer := range layers {
		switch {
		case len(layer) == 0 || string(layer) == "{}":
		case alone || !bytes.HasPrefix(layer, []byte(`{"`)):
			return nil, false
		default:
			only, alone = layer, true
		}
	}
	return only, true
}

// EncodeSpec returns a specification as stored: JSON whose embedded documents are
// compacted and otherwise unchanged.
func EncodeSpec(spec any) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	_ = e.Encode(spec) // validation has checked the documents
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}

// canonical returns a specification as it is read back from the store. A specification
// that cannot be encoded is returned unchanged; validation names its problem.
func canonical[T any](spec T) T {
	var read T
	if json.Unmarshal(EncodeSpec(spec), &read) != nil {
		return spec
	}
	return read
}
