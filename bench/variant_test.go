package main

import (
	"go/parser"
	"go/token"
	"testing"
)

// The build of a variant takes long, so that this test only checks that its changes fit the source.
func TestVariantsFitTheSource(t *testing.T) {
	for _, v := range []variant{withoutGuard, withoutChain} {
		changed, err := v.apply("..")
		if err != nil {
			t.Errorf("%s: %v", v.name, err)
		}
		for file, text := range changed {
			if _, err := parser.ParseFile(token.NewFileSet(), file, text, 0); err != nil {
				t.Errorf("%s: %v", v.name, err)
			}
		}
	}
}

func TestVariantRefusesLineThatDoesNotExist(t *testing.T) {
	v := variant{"broken", []edit{{"access/guard.go", "func (g *Guard) Nothing() {", "return"}}}
	if _, err := v.apply(".."); err == nil {
		t.Error("a change that does not fit is accepted")
	}
}
