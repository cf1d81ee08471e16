package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/rotajobs/rota/sql/ddl"
)

// runFile runs the statements of a file one by one. It stops at the first error, or runs all of them with keepGoing and
// returns an error if one failed.
func (s *sqlPrinter) runFile(ctx context.Context, name string, keepGoing bool) error {
	content, err := s.fileText(name)
	if err != nil {
		return err
	}
	text := string(bytes.TrimPrefix(content, []byte("\ufeff")))
	requests, err := splitFile(fileName(name), text)
	if err != nil {
		return err
	}
	refused := 0
	for _, p := range requests {
		err := s.run(ctx, p)
		var refusal *statementError
		switch {
		case err == nil:
			continue
		case !errors.As(err, &refusal) || !keepGoing:
			return inFile(err)
		}
		refusal.write(s.err)
		refused++
	}
	if refused > 0 {
		return &exitError{code: exitFailed, err: fmt.Errorf("%d of %s failed", refused, plural(len(requests), "request", "requests"))}
	}
	return nil
}

// inFile converts the error of one statement to the error of the file: every refused statement exits with exitFailed.
func inFile(err error) error {
	var refusal *statementError
	if errors.As(err, &refusal) && refusal.exit() != exitUnavailable {
		return &exitError{code: exitFailed, err: refusal}
	}
	return err
}

// splitFile splits the text of a file into requests: a statement, or all statements of a transaction.
func splitFile(name, text string) (requests []sqlRequest, err error) {
	sources, err := ddl.Split(text)
	if err != nil {
		return nil, sqlRequest{text: text, file: name}.asStatementError(err)
	}
	for i := 0; i < len(sources); i++ {
		first, last := sources[i], i
		if _, begins := parseStatement(first).(*ddl.Begin); begins {
			last = endOfTransaction(sources, i)
		}
		requests = append(requests, requestOf(name, text, first, sources[last]))
		i = last
	}
	return requests, nil
}

// splitStatements splits the text of a file into statements.
func splitStatements(name, text string) (requests []sqlRequest, err error) {
	sources, err := ddl.Split(text)
	if err != nil {
		return nil, sqlRequest{text: text, file: name}.asStatementError(err)
	}
	for _, one := range sources {
		requests = append(requests, requestOf(name, text, one, one))
	}
	return requests, nil
}

// requestOf returns the text from the first to the last statement as one request.
func requestOf(name, text string, first, last ddl.Source) sqlRequest {
	return sqlRequest{text: text[first.Offset : last.Offset+len(last.Text)], file: name, lines: strings.Count(text[:first.Offset], "\n")}
}

// endOfTransaction returns the index of the statement that ends the transaction, or of the last statement.
func endOfTransaction(sources []ddl.Source, begin int) int {
	for i := begin + 1; i < len(sources); i++ {
		switch parseStatement(sources[i]).(type) {
		case *ddl.Commit, *ddl.Rollback:
			return i
		}
	}
	return len(sources) - 1
}

// parseStatement parses a statement. It returns nil for an invalid one, which the server reports.
func parseStatement(source ddl.Source) ddl.Statement {
	statement, err := ddl.Parse(source.Text)
	if err != nil {
		return nil
	}
	return statement
}
