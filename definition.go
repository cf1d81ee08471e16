package rota

import (
	"bytes"
	"encoding/json"
	"time"
)

// Type is a name with a payload schema and a handler somewhere. A job may be of
// a type that nobody declared; a declared one has a policy of its own and can
// be paused.
type Type struct {
	Name      string
	Spec      TypeSpec
	Paused    bool // its jobs are kept and not started
	Version   ID   // the last command that changed it
	CreatedBy string
	CreatedAt time.Time
	UpdatedAt time.Time
}

// TypeSpec is what is declared of a type.
type TypeSpec struct {
	Description string          `wire:"1" json:"description,omitempty"`
	Schema      json.RawMessage `wire:"2" json:"schema,omitempty"` // JSON Schema of its params; faces check it, no store does
	Policy      PolicyPatch     `wire:"3" json:"policy"`
}

// TemplateState says whether jobs may be made from a template.
type TemplateState string

// The states of a template.
const (
	TemplateActive   TemplateState = "ACTIVE"
	TemplateArchived TemplateState = "ARCHIVED" // kept for what it made; makes nothing more
)

// Template is what to run: a type, default params, a policy.
type Template struct {
	Name      string
	Spec      TemplateSpec
	State     TemplateState
	Version   ID // the last command that changed it
	CreatedBy string
	CreatedAt time.Time
	UpdatedAt time.Time
}

// TemplateSpec is what is declared of a template.
type TemplateSpec struct {
	Type           string          `wire:"1" json:"type"`
	Description    string          `wire:"2" json:"description,omitempty"`
	Params         json.RawMessage `wire:"3" json:"params,omitempty"` // defaults, overlaid key by key
	Priority       *int            `wire:"4" json:"priority,omitempty"`
	Policy         PolicyPatch     `wire:"5" json:"policy"`
	UniqueFor      time.Duration   `wire:"6" json:"unique_for,omitempty"`      // of requests with a unique key that say nothing
	ConcurrencyKey string          `wire:"7" json:"concurrency_key,omitempty"` // of requests that say nothing
	Webhooks       []Webhook       `wire:"8" json:"webhooks,omitempty"`        // told of the jobs that are made from it
}

// MergeParams overlays objects key by key, later ones over earlier ones; what
// stands deeper is replaced whole. Where only one of them has anything to say,
// it is returned as it was written; else the keys are sorted, so that the same
// objects always give the same text.
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

// onlyLayer is the one layer that has anything to say, if that can be seen
// without reading it.
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

// EncodeSpec is a specification as it is stored: JSON, its documents compact and
// otherwise as they were written.
func EncodeSpec(spec any) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	_ = e.Encode(spec) // validation has seen its documents
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}

// canonical is a specification as it is read back. One that cannot be written
// stays as it is, for validation to name what is wrong with it.
func canonical[T any](spec T) T {
	var read T
	if json.Unmarshal(EncodeSpec(spec), &read) != nil {
		return spec
	}
	return read
}

// Canonical is the specification as it is stored.
func (s TypeSpec) Canonical() TypeSpec { return canonical(s) }

// Canonical is the specification as it is stored.
func (s TemplateSpec) Canonical() TemplateSpec {
	s.UniqueFor = s.UniqueFor.Truncate(time.Microsecond)
	return canonical(s)
}

// Equal reports whether two specifications are stored alike.
func (s TypeSpec) Equal(other TypeSpec) bool {
	return bytes.Equal(EncodeSpec(s.Canonical()), EncodeSpec(other.Canonical()))
}

// Equal reports whether two specifications are stored alike.
func (s TemplateSpec) Equal(other TemplateSpec) bool {
	return bytes.Equal(EncodeSpec(s.Canonical()), EncodeSpec(other.Canonical()))
}
