// Package query parses queries in the syntax of PostgreSQL into a tree. It knows
// neither tables nor types: package translate resolves names and gives the tree
// its meaning.
//
//	scanner.go   text to tokens
//	literal.go   strings and numbers
//	words.go     which words may be names, and where
//	parser.go    Parse, the methods that take tokens, and shared parts such as names
//	select.go    queries and their parts
//	order.go     ORDER BY, LIMIT, OFFSET, FETCH
//	source.go    the sources of FROM
//	join.go      joins
//	value.go     values, by the precedence of their operators
//	match.go     IS, IN, BETWEEN, LIKE
//	primary.go   values without operators
//	call.go      functions
//	forms.go     functions with a syntax of their own, such as EXTRACT
//	window.go    windows and their frames
//	type.go      types
//	error.go     errors
//	tree.go      the tree of a query
//	expr.go      the tree of a value
//
// The parser rewrites some forms. TABLE t is SELECT * FROM t. position(a IN b) is a call
// of position with a and b in that order, substring(x FROM a FOR b) one of
// substring with x, a and b, and trim one of btrim, ltrim or rtrim with the text
// first. A query in parentheses without WITH, ORDER BY, LIMIT and OFFSET is
// replaced by its body.
//
// Chains of operators, joins and parts of a UNION are left-deep trees, as deep as
// the chain is long. Everything else is nested at most 200 levels deep.
package query
