package payload

import "github.com/santhosh-tekuri/jsonschema/v6"

// budget limits the steps of one check. The work of a schema can double with
// each of its lines, so a check that exceeds its budget is aborted.
type budget struct{ left int }

// The steps that a check may take: a base, and more for each byte of the params.
// An ordinary schema takes a few steps for each value.
const (
	stepsBase    = 100_000
	stepsForByte = 1
)

func (b *budget) reset(d document) { b.left = stepsBase + stepsForByte*d.bytes }

// spend panics with budgetExceeded when no steps are left: the validator has no
// other way to abort.
func (b *budget) spend(steps int) {
	if b.left -= steps; b.left < 0 {
		panic(budgetExceeded{})
	}
}

// budgetExceeded is the value of the panic that aborts a check.
type budgetExceeded struct{}

// costVocabulary returns a vocabulary without keywords. The validator calls its
// extension for each schema that it applies to a value, which counts the step.
func costVocabulary(b *budget) *jsonschema.Vocabulary {
	return &jsonschema.Vocabulary{
		URL: "urn:rota:cost",
		Compile: func(_ *jsonschema.CompilerContext, schema map[string]any) (jsonschema.SchemaExt, error) {
			if schema[hoistedMark] != nil {
				return nil, nil
			}
			return b, nil
		},
	}
}

// Validate counts one step. A deeply nested value costs more, because each error
// about it holds its whole path.
func (b *budget) Validate(at *jsonschema.ValidatorContext, _ any) {
	b.spend(1 + len(at.ValueLocation())/16)
}
