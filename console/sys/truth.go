package sys

// truths says which columns of a query are true or false: SQLite has numbers for
// that. It looks at what stands in the list of the first SELECT, item by item; behind a
// star nobody knows which column an item is.
func truths(tokens []token) (list []bool) {
	i := 0
	for i < len(tokens) && !tokens[i].is("select") {
		if tokens[i].is("with") || tokens[i].is("values", "table") {
			return nil // which list is the first, is not to be seen from here
		}
		i++
	}
	i++
	if i < len(tokens) && tokens[i].is("distinct", "all") {
		i++
	}
	begin, depth := i, 0
	for ; i < len(tokens); i++ {
		depth += tokens[i].depth()
		if depth != 0 || !tokens[i].sign(",") && !ends(tokens[i]) {
			continue
		}
		item := tokens[begin:i]
		if len(item) > 0 && item[len(item)-1].sign("*") {
			return list
		}
		list = append(list, truth(item))
		begin = i + 1
		if ends(tokens[i]) {
			return list
		}
	}
	return append(list, truth(tokens[min(begin, len(tokens)):]))
}

// ends says that the list is over.
func ends(t token) bool {
	return t.sign(";") || t.is("from", "where", "group", "having", "order", "limit", "union", "except", "intersect", "window")
}

// truth says whether an item is true or false: a constant, a cast, or something that
// is compared.
func truth(item []token) bool {
	for i := range item {
		if item[i].is("as") && i > 0 {
			item = item[:i]
			break
		}
	}
	if len(item) == 0 || item[0].is("case") {
		return false
	}
	if len(item) == 1 {
		return item[0].is("true", "false")
	}
	if last := len(item) - 1; item[last-1].sign("::") {
		return item[last].is("bool", "boolean")
	}
	if item[0].is("not", "exists") {
		return true
	}
	depth := 0
	for i, t := range item {
		depth += t.depth()
		if depth != 0 {
			continue
		}
		if i > 0 && (compares[t.text] || t.is("like", "ilike", "in", "is", "between", "and", "or", "not", "isnull", "notnull")) {
			return true
		}
	}
	return false
}

// compares are the signs between two values that are compared.
var compares = map[string]bool{"=": true, "==": true, "<>": true, "!=": true, "<": true, ">": true, "<=": true, ">=": true}
