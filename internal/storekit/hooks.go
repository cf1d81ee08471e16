package storekit

import (
	"encoding/json"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/internal/rules"
)

// Hooks collects the webhooks in force.
type Hooks struct{ read rules.Hooks }

// NewHooks returns an empty collection.
func NewHooks() *Hooks { return &Hooks{rules.Hooks{ByTemplate: map[string][]rota.Webhook{}}} }

// AddAll adds the webhooks that receive all events: a row with their spec.
func (h *Hooks) AddAll(r Row) error {
	if err := json.Unmarshal(r.JSON(0), &h.read.All); err != nil {
		return undecodable("the webhooks", err)
	}
	return nil
}

// AddTemplate adds the webhooks of a template: a row with its name and its spec.
func (h *Hooks) AddTemplate(r Row) error {
	var spec struct {
		Webhooks []rota.Webhook `json:"webhooks"`
	}
	name := r.Text(0)
	err := json.Unmarshal(r.JSON(1), &spec)
	h.read.ByTemplate[name] = spec.Webhooks
	if err != nil {
		return undecodable("template "+name, err)
	}
	return nil
}

// InForce returns the webhooks, nil if there are none.
func (h *Hooks) InForce() *rules.Hooks {
	if len(h.read.All)+len(h.read.ByTemplate) == 0 {
		return nil
	}
	return &h.read
}
