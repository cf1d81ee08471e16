package api

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/rotajobs/rota"
)

// Throttle holds all limits. It is read and written as a whole.
type Throttle struct {
	Global int                  `json:"global" doc:"Runs at the same time, of all types; 0 means no limit."`
	Types  map[string]TypeLimit `json:"types" doc:"Limits by type name."`
	Keys   map[string]int       `json:"keys" doc:"Runs at the same time, by concurrency key."`

	EachKey       map[string]int `json:"each_key" doc:"Runs at the same time of each concurrency key that begins with a prefix and is not in keys, by prefix and *. The longest prefix applies."`
	EachKeyOfType map[string]int `json:"each_key_of_type" doc:"Runs at the same time of each concurrency key that neither keys nor each_key limits, by type name. Only jobs of the type count."`

	Version ID `json:"version" doc:"Changes with every change. Null: never set."`
}

// TypeLimit limits the jobs of one type.
type TypeLimit struct {
	Concurrency int  `json:"concurrency" doc:"Runs at the same time; 0 means no limit."`
	Rate        Text `json:"rate" doc:"Starts per period, such as 100/1m. Null: no limit." example:"100/1m"`
}

// NewThrottle converts the limits.
func NewThrottle(t *rota.Throttle) Throttle {
	v := Throttle{
		Global: t.Spec.Global, Types: map[string]TypeLimit{}, Keys: map[string]int{},
		EachKey: map[string]int{}, EachKeyOfType: map[string]int{}, Version: ID{t.Version},
	}
	for _, l := range t.Spec.Types {
		v.Types[l.Type] = TypeLimit{Concurrency: l.Concurrency, Rate: Text(rateText(l.Rate))}
	}
	for _, k := range t.Spec.Keys {
		v.Keys[k.Key] = k.Concurrency
	}
	for _, k := range t.Spec.EachKey {
		v.EachKey[k.Pattern] = k.Concurrency
	}
	for _, k := range t.Spec.EachKeyOfType {
		v.EachKeyOfType[k.Type] = k.Concurrency
	}
	return v
}

// ThrottleRequest sets all limits.
type ThrottleRequest struct {
	Global int                         `json:"global,omitempty" doc:"Runs at the same time, of all types; 0 means no limit."`
	Types  map[string]TypeLimitRequest `json:"types,omitempty" doc:"Limits by type name."`
	Keys   map[string]int              `json:"keys,omitempty" doc:"Runs at the same time, by concurrency key."`

	EachKey       map[string]int `json:"each_key,omitempty" doc:"Runs at the same time of each concurrency key that begins with a prefix and is not in keys, by prefix and *. The longest prefix applies."`
	EachKeyOfType map[string]int `json:"each_key_of_type,omitempty" doc:"Runs at the same time of each concurrency key that neither keys nor each_key limits, by type name. Only jobs of the type count."`

	Version Opt[ID] `json:"version,omitzero" doc:"Version that was read. The limits are set only if they have not changed since; null: only if they were never set."`
}

// TypeLimitRequest limits the jobs of one type.
type TypeLimitRequest struct {
	Concurrency int    `json:"concurrency,omitempty" doc:"Runs at the same time; 0 means no limit."`
	Rate        string `json:"rate,omitempty" doc:"Starts per period, such as 100/1m." example:"100/1m"`
}

// Request returns the limits as a request that sets them.
func (v *Throttle) Request() ThrottleRequest {
	r := ThrottleRequest{Global: v.Global, Types: map[string]TypeLimitRequest{}, Keys: v.Keys, EachKey: v.EachKey, EachKeyOfType: v.EachKeyOfType}
	for name, l := range v.Types {
		r.Types[name] = TypeLimitRequest{Concurrency: l.Concurrency, Rate: string(l.Rate)}
	}
	return r
}

// Spec converts the limits.
func (r *ThrottleRequest) Spec() (rota.ThrottleSpec, error) {
	spec := rota.ThrottleSpec{Global: r.Global}
	for name, limit := range r.Types {
		rate, err := parseRate(limit.Rate)
		if err != nil {
			return spec, rota.Invalidf("types."+FieldPath("", name)+".rate", "%s", err.Error())
		}
		spec.Types = append(spec.Types, rota.TypeLimit{Type: name, Concurrency: limit.Concurrency, Rate: rate})
	}
	for key, n := range r.Keys {
		spec.Keys = append(spec.Keys, rota.KeyLimit{Key: key, Concurrency: n})
	}
	for pattern, n := range r.EachKey {
		spec.EachKey = append(spec.EachKey, rota.EachKeyLimit{Pattern: pattern, Concurrency: n})
	}
	for typ, n := range r.EachKeyOfType {
		spec.EachKeyOfType = append(spec.EachKeyOfType, rota.EachKeyOfTypeLimit{Type: typ, Concurrency: n})
	}
	return spec.Canonical(), nil
}

func rateText(r rota.Rate) string {
	if r == (rota.Rate{}) {
		return ""
	}
	return fmt.Sprintf("%d/%s", r.Count, rota.FormatDuration(r.Per))
}

// parseRate parses a rate such as 100/1m. An empty text is no rate.
func parseRate(text string) (rate rota.Rate, err error) {
	if text == "" {
		return rate, nil
	}
	count, per, found := strings.Cut(text, "/")
	if rate.Count, err = strconv.Atoi(strings.TrimSpace(count)); !found || err != nil {
		return rate, errors.New("is not a rate; write the number of starts and the period, such as 100/1m")
	}
	if rate.Per, err = rota.ParseDuration(per); err != nil {
		return rate, errors.New("has no valid period after the /; write the number of starts and the period, such as 100/1m")
	}
	if rate == (rota.Rate{}) {
		return rate, errors.New("must not be zero; to stop a type, pause it")
	}
	return rate, nil
}
