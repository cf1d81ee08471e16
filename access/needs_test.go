package access

import (
	"reflect"
	"slices"
	"testing"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/internal/samples"
)

// TestEveryVerbHasANeed fails for a verb that the Guard does not know.
func TestEveryVerbHasANeed(t *testing.T) {
	known := map[rota.Verb]bool{}
	for _, c := range samples.Commands() {
		known[c.Verb()] = true
		if _, has := verbNeeds[c.Verb()]; !has {
			t.Errorf("verbNeeds has no row for %s", c.Verb())
		}
	}
	for verb := range verbNeeds {
		if !known[verb] {
			t.Errorf("verbNeeds has a row for %s, which does not exist", verb)
		}
	}
}

// TestEveryReadHasANeed fails for a method of a store that the Guard does not know.
func TestEveryReadHasANeed(t *testing.T) {
	store := reflect.TypeFor[rota.Store]()
	var methods []string
	for i := range store.NumMethod() {
		if name := store.Method(i).Name; name != "Apply" {
			methods = append(methods, name)
		}
	}
	for _, name := range methods {
		if _, has := readNeeds[name]; !has {
			t.Errorf("readNeeds has no row for %s", name)
		}
	}
	for name := range readNeeds {
		if !slices.Contains(methods, name) {
			t.Errorf("readNeeds has a row for %s, which does not exist", name)
		}
	}
}

// TestGuardIsAStore also fails if the Guard passes a method on without a check by embedding.
func TestGuardIsAStore(t *testing.T) {
	var _ rota.Store = (*Guard)(nil)
	guard := reflect.TypeFor[Guard]()
	for i := range guard.NumField() {
		if guard.Field(i).Anonymous {
			t.Errorf("the Guard embeds %s, whose methods would not be checked", guard.Field(i).Name)
		}
	}
}
