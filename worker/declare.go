package worker

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/rotajobs/rota"
)

// typeView is a type as the API shows it.
type typeView struct {
	Name        string          `json:"name"`
	Description string          `json:"description"`
	Schema      json.RawMessage `json:"schema"`
	policyView
	Paused bool `json:"paused"`
}

// typeRequest declares a type. Fields left out have their default.
type typeRequest struct {
	Description string          `json:"description,omitempty"`
	Schema      json.RawMessage `json:"schema,omitempty"`
	policyView
}

// policyView is the retry policy and the timeout of a type.
type policyView struct {
	MaxRetries *int          `json:"max_retries,omitempty"`
	Backoff    *jsonDuration `json:"backoff,omitempty"`
	BackoffMax *jsonDuration `json:"backoff_max,omitempty"`
	Jitter     *float64      `json:"jitter,omitempty"`
	Timeout    *jsonDuration `json:"timeout,omitempty"`
}

func newTypeRequest(spec rota.TypeSpec) typeRequest {
	p := &spec.Policy
	return typeRequest{Description: spec.Description, Schema: spec.Schema, policyView: policyView{
		MaxRetries: p.MaxRetries, Backoff: (*jsonDuration)(p.Backoff), BackoffMax: (*jsonDuration)(p.BackoffMax), Jitter: p.Jitter, Timeout: (*jsonDuration)(p.Timeout),
	}}
}

func (v *typeView) typ() (*rota.Type, error) {
	if v.Name == "" {
		return nil, unreadable("type", rota.Invalidf("name", "is empty"))
	}
	t := &rota.Type{Name: v.Name, Paused: v.Paused, Spec: rota.TypeSpec{
		Description: v.Description, Policy: rota.PolicyPatch{
			MaxRetries: v.MaxRetries, Backoff: (*time.Duration)(v.Backoff), BackoffMax: (*time.Duration)(v.BackoffMax),
			Jitter: v.Jitter, Timeout: (*time.Duration)(v.Timeout),
		},
	}}
	if string(v.Schema) != "null" {
		t.Spec.Schema = v.Schema
	}
	return t, nil
}

// throttleView is all limits, as the API reads and writes them.
type throttleView struct {
	Global int                      `json:"global"`
	Types  map[string]typeLimitView `json:"types"`
	Keys   map[string]int           `json:"keys"`

	Version *rota.ID `json:"version"` // null: limits were never set
}

type typeLimitView struct {
	Concurrency int    `json:"concurrency"`
	Rate        string `json:"rate,omitempty"`
}

func newThrottleView(spec rota.ThrottleSpec) throttleView {
	v := throttleView{Global: spec.Global, Types: map[string]typeLimitView{}, Keys: map[string]int{}}
	for _, t := range spec.Types {
		limit := typeLimitView{Concurrency: t.Concurrency}
		if t.Rate != (rota.Rate{}) {
			limit.Rate = fmt.Sprintf("%d/%s", t.Rate.Count, rota.FormatDuration(t.Rate.Per))
		}
		v.Types[t.Type] = limit
	}
	for _, k := range spec.Keys {
		v.Keys[k.Key] = k.Concurrency
	}
	return v
}

func (v *throttleView) spec() (rota.ThrottleSpec, error) {
	spec := rota.ThrottleSpec{Global: v.Global}
	for name, limit := range v.Types {
		rate, err := parseRate(limit.Rate)
		if err != nil {
			return spec, unreadable("limits", err)
		}
		spec.Types = append(spec.Types, rota.TypeLimit{Type: name, Concurrency: limit.Concurrency, Rate: rate})
	}
	for key, n := range v.Keys {
		spec.Keys = append(spec.Keys, rota.KeyLimit{Key: key, Concurrency: n})
	}
	return spec.Canonical(), nil
}

// parseRate parses a rate such as 100/1m. Empty means no rate.
func parseRate(text string) (rate rota.Rate, err error) {
	if text == "" {
		return rate, nil
	}
	count, per, _ := strings.Cut(text, "/")
	if rate.Count, err = strconv.Atoi(count); err != nil {
		return rate, err
	}
	rate.Per, err = rota.ParseDuration(per)
	return rate, err
}
