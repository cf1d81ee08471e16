package payload

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"
)

// typeWords are the types of JSON Schema in messages.
var typeWords = map[string]string{
	"null": "null", "boolean": "true or false", "number": "a number", "integer": "a whole number",
	"string": "text", "array": "a list", "object": "an object",
}

func wrongType(value any, want []string) string {
	got := kindOf(value)
	if n, is := value.(json.Number); is && slices.Contains(want, "integer") {
		got = numberText(n)
	}
	if b, is := value.(bool); is {
		got = brief(b)
	}
	return "is " + got + "; it must be " + eitherOf(want)
}

func eitherOf(types []string) string {
	var words []string
	for _, t := range types {
		if t != "null" {
			words = append(words, typeWords[t])
		}
	}
	if slices.Contains(types, "null") {
		words = append(words, "null")
	}
	return strings.Join(words, " or ")
}

// formatWords describe the formats in messages.
var formatWords = map[string]string{
	"date-time": "a time such as 2026-11-15T07:00:00Z",
	"date":      "a date such as 2026-11-15",
	"time":      "a time of day such as 07:00:00Z",
	"email":     "an e-mail address",
	"uuid":      "a UUID such as 01926a5e-7c3b-7f3a-8d2e-1b2c3d4e5f60",
	"uri":       "a URL such as https://example.com/a",
	"hostname":  "a host name",
	"ipv4":      "an IPv4 address",
	"ipv6":      "an IPv6 address",
	"duration":  "an ISO 8601 duration such as PT90S",

	durationFormat: "a duration; write it like 90s, 1h30m or 2 DAYS",
	urlFormat:      "an http or https URL such as https://example.com/a, without user and password",
}

func wrongFormat(k *kind.Format) string {
	switch words := formatWords[k.Want]; {
	case k.Want == "regex":
		return "is not a pattern: " + k.Err.Error()
	case k.Want == headerFormat, k.Want == headerValueFormat, k.Want == secretHeaderFormat, k.Want == hostFormat:
		return k.Err.Error() // the checks of these formats return the message
	case words != "":
		return "is not " + words
	}
	return "is not of the format " + truncated(k.Want)
}

// closestForm converts an error about several alternatives, none of which the value
// matches. Alternatives of another type are not the intended one, nor are those that
// refuse the value as a whole. Of the others it chooses the one with the fewest problems.
func (r errorFormatter) closestForm(at string, e *jsonschema.ValidationError) Problems {
	var forms []Problems
	var types []string
	for _, cause := range e.Causes {
		if want := otherType(cause, len(e.InstanceLocation)); want != nil {
			types = append(types, want...)
		} else if found := r.problems(cause); len(found) > 0 {
			forms = append(forms, found)
		}
	}
	if len(forms) == 0 && len(types) > 0 {
		slices.Sort(types)
		return Problems{{at, wrongType(valueAt(r.value, e.InstanceLocation), slices.Compact(types))}}
	}
	if len(forms) == 0 {
		return Problems{{at, "matches none of the allowed alternatives"}}
	}
	if deep := slices.DeleteFunc(slices.Clone(forms), func(p Problems) bool { return concerns(p, at) }); len(deep) > 0 {
		forms = deep
	}
	best := slices.MinFunc(forms, func(a, b Problems) int { return len(a) - len(b) })
	if len(forms) == 1 {
		return addTypes(best, at, types)
	}
	reason := best[0].Reason
	if best[0].Field != at {
		reason = best[0].Field + " " + reason
	}
	return Problems{{at, "matches none of the allowed alternatives; closest match: " + reason}}
}

// addTypes adds the types of the other alternatives to a problem with the value
// itself: a text that is not in an enum may have been meant as a number.
func addTypes(best Problems, at string, types []string) Problems {
	types = slices.DeleteFunc(types, func(t string) bool { return t == "null" })
	if len(types) == 0 || len(best) > 1 || best[0].Field != at {
		return best
	}
	slices.Sort(types)
	return Problems{{at, best[0].Reason + "; or " + eitherOf(slices.Compact(types))}}
}

// concerns reports whether one of the problems is with the value itself, not with
// a part of it.
func concerns(p Problems, at string) bool {
	return slices.ContainsFunc(p, func(one Problem) bool { return one.Field == at })
}

// otherType are the types that an alternative requires, if the type is the only
// problem.
func otherType(e *jsonschema.ValidationError, depth int) []string {
	for {
		switch k := e.ErrorKind.(type) {
		case *kind.Type:
			if len(e.InstanceLocation) == depth {
				return k.Want
			}
			return nil
		case *kind.Reference, *kind.Group, *kind.AllOf:
			if len(e.Causes) != 1 {
				return nil
			}
			e = e.Causes[0]
		default:
			return nil
		}
	}
}
