package sys

// castTypes are the types that a value can be cast to, and how.
var castTypes = map[string]string{
	"int": "INTEGER", "int2": "INTEGER", "int4": "INTEGER", "int8": "INTEGER", "integer": "INTEGER", "bigint": "INTEGER", "smallint": "INTEGER",
	"text": "TEXT", "varchar": "TEXT", "char": "TEXT", "character": "TEXT", "bpchar": "TEXT", "name": "TEXT", "uuid": "TEXT", "json": "TEXT", "jsonb": "TEXT",
	"real": "REAL", "float": "REAL", "float4": "REAL", "float8": "REAL", "double": "REAL", "numeric": "NUMERIC", "decimal": "NUMERIC",
	"bool": castBool, "boolean": castBool, "timestamptz": castTime, "timestamp": castTime,
}

// What no type of SQLite does is done by a function.
const (
	castBool = "rota_bool"
	castTime = "rota_time"
)

// casts writes what stands before two colons as CAST, or as a call. It tells where the
// operand begins of a cast that ends somewhere.
func casts(tokens []token, edits []edit) (from map[int]int, _ error) {
	from = map[int]int{}
	for i, t := range tokens {
		if !t.sign("::") {
			continue
		}
		if len(from) == castsMost {
			return nil, tooLong(t, "casts", castsMost)
		}
		if i == 0 || i+1 == len(tokens) || tokens[i+1].kind != aWord {
			return nil, &Error{State: StateSyntax, Offset: t.at, Message: "a cast needs a value before it and a type behind it"}
		}
		as, known := castTypes[tokens[i+1].word]
		if !known {
			return nil, &Error{State: StateNotSupported, Offset: tokens[i+1].at, Message: "a value cannot be cast to " + tokens[i+1].text}
		}
		last := typeEnd(tokens, i+1)
		begin, chained := from[i-1]
		if !chained {
			begin = operand(tokens, i-1)
		}
		for k := i; k <= last; k++ {
			edits[k].instead = instead("")
		}
		if as == castBool || as == castTime {
			edits[begin].before, edits[i].after = as+"("+edits[begin].before, ")"
		} else {
			edits[begin].before, edits[i].after = "CAST("+edits[begin].before, " AS "+as+")"
		}
		from[last] = begin
	}
	return from, nil
}

// intervals writes a time from which an interval is taken, or to which one is added,
// as a call.
func intervals(tokens []token, edits []edit, casts map[int]int) error {
	count := 0
	for i := 2; i+1 < len(tokens); i++ {
		sign := tokens[i-1]
		if !tokens[i].is("interval") || tokens[i+1].kind != aString || !sign.sign("+") && !sign.sign("-") {
			continue
		}
		if count++; count > castsMost {
			return tooLong(tokens[i], "intervals", castsMost)
		}
		begin, cast := casts[i-2]
		if !cast {
			begin = operand(tokens, i-2)
		}
		edits[begin].before = "rota_shift(" + edits[begin].before
		edits[i-1].instead, edits[i].instead = instead(", '"+sign.text+"',"), instead("")
		edits[i+1].after += ")"
	}
	return nil
}

// typeEnd is the last token of a type that begins at one.
func typeEnd(tokens []token, i int) int {
	last := i
	for last+1 < len(tokens) && tokens[last+1].is("precision", "varying") {
		last++
	}
	if last+1 < len(tokens) && tokens[last+1].sign("(") {
		for k := last + 1; k < len(tokens); k++ {
			if tokens[k].sign(")") {
				last = k
				break
			}
		}
	}
	if last+3 < len(tokens) && tokens[last+1].is("with", "without") && tokens[last+2].is("time") && tokens[last+3].is("zone") {
		last += 3
	}
	return last
}

// operand is the first token of the value that ends at one: a name with what
// qualifies it, something in parentheses with the function it is given to, or a
// token by itself.
func operand(tokens []token, end int) int {
	i := end
	if tokens[i].is("end") {
		return caseOf(tokens, i)
	}
	if tokens[i].sign(")") {
		for depth := 0; i >= 0; i-- {
			if depth += tokens[i].depth(); depth == 0 {
				break
			}
		}
		if i <= 0 {
			return max(i, 0)
		}
		if k := i - 1; tokens[k].kind != aName && (tokens[k].kind != aWord || keywords[tokens[k].word]) {
			return i
		}
		i--
	}
	for i >= 2 && tokens[i-1].sign(".") && (tokens[i-2].kind == aWord || tokens[i-2].kind == aName) {
		i -= 2
	}
	return i
}

// caseOf is the CASE that an END belongs to.
func caseOf(tokens []token, end int) int {
	depth := 0
	for i := end; i >= 0; i-- {
		switch {
		case tokens[i].is("end"):
			depth++
		case tokens[i].is("case"):
			depth--
		}
		if depth == 0 {
			return i
		}
	}
	return 0
}

// keywords may stand before a parenthesis without being a function.
var keywords = set(`
select where and or not in on having when then else case by from using between like ilike is as limit offset values
distinct all any exists union except intersect over filter
`)
