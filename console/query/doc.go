// Package query reads queries as people write them for PostgreSQL, with what
// SQLite adds to that, into a tree. It knows neither tables nor types; what a
// query means is for others to say.
//
//	scanner.go   text to tokens
//	literal.go   strings and numbers
//	words.go     which words may be names, and where
//	parser.go    Parse, the parser's hands, and what is read by several
//	select.go    queries and their parts
//	order.go     what stands behind the rows
//	source.go    what stands behind FROM
//	join.go      joins
//	value.go     values, by the strength of their operators
//	match.go     IS, IN, BETWEEN, LIKE
//	primary.go   values without operators
//	call.go      functions
//	forms.go     functions that SQL calls in a way of their own
//	window.go    windows and their frames
//	type.go      types
//	error.go     what is said where a text cannot be read
//	tree.go      what queries are read into
//	expr.go      what values are read into
//
// Some forms become others. TABLE t is SELECT * FROM t. position(a IN b) is a call
// of position with a and b in that order, substring(x FROM a FOR b) one of
// substring with x, a and b, and trim one of btrim, ltrim or rtrim with the text
// first. SQLite's a IS b is IS NOT DISTINCT FROM. A query in parentheses that has
// nothing but rows is these rows.
//
// Lists of operators, joins and parts of a UNION lean to the left and are as deep as
// the text is long; all else is nested 200 deep at most.
package query
