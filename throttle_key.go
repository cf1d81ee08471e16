package rota

import "strings"

// KeyLimit limits the concurrent runs of one concurrency key, across types.
type KeyLimit struct {
	Key         string `wire:"1" json:"key"`
	Concurrency int    `wire:"2" json:"concurrency"`
}

func (k *KeyLimit) validate() *Error {
	if k.Key == "" {
		return Invalidf("key", "is empty")
	}
	return first(checkText("key", k.Key, KeyMax), checkKeyLimit(k.Concurrency))
}

// EachKeyLimit limits the concurrent runs of each concurrency key that begins with a
// prefix, across types. Every key has its own count.
type EachKeyLimit struct {
	Pattern     string `wire:"1" json:"pattern"` // the prefix and *, such as tenant:*; * alone matches every key
	Concurrency int    `wire:"2" json:"concurrency"`
}

func (l *EachKeyLimit) validate() *Error {
	return first(checkPattern("pattern", l.Pattern), checkKeyLimit(l.Concurrency))
}

func checkKeyLimit(n int) *Error {
	err := checkInt("concurrency", n, 1, KeyLimitMax)
	if err != nil && n == 0 {
		err.Reason += "; omit the entry to remove the limit"
	}
	return err
}

func checkPattern(field, pattern string) *Error {
	switch at := strings.IndexByte(pattern, '*'); {
	case pattern == "":
		return Invalidf(field, "is empty; write a prefix and *, such as tenant:*, or * for every key")
	case at < 0:
		return Invalidf(field, "has no * at its end; write a prefix and *, such as tenant:*, or use keys for one key")
	case at < len(pattern)-1:
		return Invalidf(field, "has a * before its end; write a prefix and *, such as tenant:*, or use keys for one key")
	}
	return checkText(field, pattern, KeyMax+1)
}

// EachKeyOfTypeLimit limits the concurrent runs of the jobs of one type that have the
// same concurrency key. Every key has its own count, and jobs of other types do not
// count.
type EachKeyOfTypeLimit struct {
	Type        string `wire:"1" json:"type"`
	Concurrency int    `wire:"2" json:"concurrency"`
}

func (l *EachKeyOfTypeLimit) validate() *Error {
	return first(checkName("type", l.Type, true), checkKeyLimit(l.Concurrency))
}

// LimitSource is the field of ThrottleSpec that sets the limit of a concurrency key.
type LimitSource string

// The sources, by precedence.
const (
	LimitOfKeys          LimitSource = "keys"
	LimitOfEachKey       LimitSource = "each_key"
	LimitOfEachKeyOfType LimitSource = "each_key_of_type"
)

// AppliedKeyLimit is the limit that applies to the jobs of one concurrency key and one
// type.
type AppliedKeyLimit struct {
	Concurrency int
	OfType      string      // only running jobs of this type count; empty: those of all types
	Source      LimitSource // where it is set
	Name        string      // key, pattern or type that it is set for
}

// Key returns the limit that applies to the jobs of a concurrency key and a type: that of
// the key itself, else that of the longest prefix of the key, else that of the type. It
// reports whether there is one. Without a type, it returns the limit that all types share.
func (s *ThrottleSpec) Key(key, typ string) (limit AppliedKeyLimit, limited bool) {
	if key == "" {
		return limit, false
	}
	for _, k := range s.Keys {
		if k.Key == key {
			return AppliedKeyLimit{k.Concurrency, "", LimitOfKeys, key}, true
		}
	}
	for _, e := range s.EachKey {
		if strings.HasPrefix(key, strings.TrimSuffix(e.Pattern, "*")) && len(e.Pattern) > len(limit.Name) {
			limit, limited = AppliedKeyLimit{e.Concurrency, "", LimitOfEachKey, e.Pattern}, true
		}
	}
	if limited {
		return limit, true
	}
	for _, e := range s.EachKeyOfType {
		if e.Type == typ {
			return AppliedKeyLimit{e.Concurrency, typ, LimitOfEachKeyOfType, typ}, true
		}
	}
	return limit, false
}

// LimitsKeys reports whether some concurrency key has a limit.
func (s *ThrottleSpec) LimitsKeys() bool { return len(s.Keys)+len(s.EachKey)+len(s.EachKeyOfType) > 0 }
