package problem

import (
	"errors"
	"fmt"
	"strings"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/api"
	"github.com/rotajobs/rota/payload"
)

// Rename replaces field names of the library by those of the API. It takes pairs of old and new
// names, and renames the first whose old name starts the path.
func Rename(err error, names ...string) error {
	var e *rota.Error
	if err == nil || !errors.As(err, &e) {
		return err
	}
	for i := 0; i+1 < len(names); i += 2 {
		if rest, found := cutField(e.Field, names[i]); found {
			renamed := *e
			renamed.Field = strings.TrimPrefix(names[i+1]+rest, ".")
			renamed.Err = renameProblems(e.Err, names[i], names[i+1])
			return &renamed
		}
	}
	return err
}

// cutField removes a whole name from the front of a path.
func cutField(path, name string) (rest string, found bool) {
	rest, found = strings.CutPrefix(path, name)
	return rest, found && (rest == "" || rest[0] == '.' || rest[0] == '[')
}

// renameProblems renames the fields of all problems of a payload.
func renameProblems(err error, from, to string) error {
	var many payload.Problems
	if !errors.As(err, &many) {
		return err
	}
	renamed := make(payload.Problems, len(many))
	for i, one := range many {
		if rest, found := cutField(one.Field, from); found {
			one.Field = strings.TrimPrefix(to+rest, ".")
		}
		renamed[i] = one
	}
	return renamed
}

// InBody turns NotFound for a name in the body into an error of the body.
func InBody(err error) error {
	e, isRotaError := err.(*rota.Error)
	if !isRotaError || e.Code != rota.NotFound || e.Field == "" || e.Field == "name" {
		return err
	}
	return Recode(err, rota.NotFound, rota.Invalid, e.Field)
}

// Recode changes the code of an error, for example NotFound of a name in a body to Invalid: the body
// is wrong, not the path.
func Recode(err error, from, to rota.Code, field string) error {
	if rota.CodeOf(err) != from {
		return err
	}
	e, isRotaError := err.(*rota.Error)
	if !isRotaError {
		return err
	}
	changed := *e
	changed.Code, changed.Field = to, field
	return &changed
}

// AtItem prefixes the fields of an error with the position of an item.
func AtItem(list string, i int, err error) error {
	e, isRotaError := err.(*rota.Error)
	if !isRotaError || e.Field == "" {
		return err
	}
	first, _, _ := strings.Cut(e.Field, ".")
	first, _, _ = strings.Cut(first, "[")
	return Rename(err, first, fmt.Sprintf("%s[%d].%s", list, i, first))
}

// OfLimits replaces list positions in the fields of an error by the names of types and keys.
func OfLimits(err error, spec *rota.ThrottleSpec) error {
	for i, t := range spec.Types {
		at := fmt.Sprintf("types[%d]", i)
		name := "types." + api.FieldPath("", t.Type)
		err = Rename(err, at+".rate", name+".rate", at+".type", "types", at, name)
	}
	for i, k := range spec.Keys {
		err = renameLimit(err, "keys", i, "key", k.Key)
	}
	for i, k := range spec.EachKey {
		err = renameLimit(err, "each_key", i, "pattern", k.Pattern)
	}
	for i, k := range spec.EachKeyOfType {
		err = renameLimit(err, "each_key_of_type", i, "type", k.Type)
	}
	return mergeRateField(err)
}

// renameLimit replaces a position in a list of limits of keys by the name of the limit.
func renameLimit(err error, list string, i int, nameField, name string) error {
	at, path := fmt.Sprintf("%s[%d]", list, i), list+"."+api.FieldPath("", name)
	return Rename(err, at+"."+nameField, list, at+".concurrency", path, at, path)
}

// mergeRateField moves the parts of a rate from the field of an error to its reason.
func mergeRateField(err error) error {
	var e *rota.Error
	if !errors.As(err, &e) {
		return err
	}
	cut := *e
	for _, part := range []string{".count", ".per"} {
		if at, found := strings.CutSuffix(e.Field, ".rate"+part); found {
			cut.Field = at + ".rate"
			cut.Reason = part[1:] + " " + e.Reason
			return &cut
		}
	}
	return err
}

// Size formats a number of bytes.
func Size(n int64) string {
	if n >= 1<<20 {
		return fmt.Sprintf("%.3g MiB", float64(n)/(1<<20))
	}
	return fmt.Sprintf("%d bytes", n)
}
