package payload

import "github.com/santhosh-tekuri/jsonschema/v6"

// purse pays for the steps of one check. Schemas can be written whose work
// doubles with each of their lines: a check that has spent its purse is given up.
type purse struct{ left int }

// A check may take so many steps, and so many more for each byte of the params.
// An honest one takes a few steps for a value.
const (
	stepsBase    = 100_000
	stepsForByte = 1
)

func (p *purse) fill(d document) { p.left = stepsBase + stepsForByte*d.bytes }

// pay panics with broke when nothing is left: there is no other way out of the
// middle of a validation.
func (p *purse) pay(steps int) {
	if p.left -= steps; p.left < 0 {
		panic(broke{})
	}
}

type broke struct{}

// toll is a vocabulary without words, whose only use is to pay for each schema
// that a value is held to.
func toll(p *purse) *jsonschema.Vocabulary {
	return &jsonschema.Vocabulary{
		URL: "urn:rota:toll",
		Compile: func(_ *jsonschema.CompilerContext, schema map[string]any) (jsonschema.SchemaExt, error) {
			if schema[partMark] != nil {
				return nil, nil
			}
			return p, nil
		},
	}
}

// Validate pays for one step. What lies deep costs more, since each error that
// may come of it holds its whole path.
func (p *purse) Validate(at *jsonschema.ValidatorContext, _ any) {
	p.pay(1 + len(at.ValueLocation())/16)
}
