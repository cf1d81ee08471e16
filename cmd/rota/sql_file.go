package main

import (
	"bytes"
	"context"
	"errors"
	"strings"

	"github.com/rotajobs/rota/ddl"
)

// runFile runs the statements of a file, each by itself, until one is refused or, if it keeps going, all of them. It
// then fails if one was refused.
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
		return &exitError{code: exitFailed, err: errors.New(plural(refused, "request was", "requests were") + " refused, of " + plural(len(requests), "request", "requests"))}
	}
	return nil
}

// inFile is the refusal of one statement of a file as that of the file, which fails whatever the reason.
func inFile(err error) error {
	var refusal *statementError
	if errors.As(err, &refusal) && refusal.exit() != exitUnavailable {
		return &exitError{code: exitFailed, err: refusal}
	}
	return err
}

// splitFile cuts the text of a file into what is sent together: a statement, or all from BEGIN to what ends it.
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

// splitStatements cuts the text of a file into statements.
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

// requestOf is the text from one statement to the end of another.
func requestOf(name, text string, first, last ddl.Source) sqlRequest {
	return sqlRequest{text: text[first.Offset : last.Offset+len(last.Text)], file: name, lines: strings.Count(text[:first.Offset], "\n")}
}

// endOfTransaction is the statement that ends the transaction which begins at one, or the last if none does.
func endOfTransaction(sources []ddl.Source, begin int) int {
	for i := begin + 1; i < len(sources); i++ {
		switch parseStatement(sources[i]).(type) {
		case *ddl.Commit, *ddl.Rollback:
			return i
		}
	}
	return len(sources) - 1
}

// parseStatement is a statement, nil if it is none: the server says why.
func parseStatement(source ddl.Source) ddl.Statement {
	statement, err := ddl.Parse(source.Text)
	if err != nil {
		return nil
	}
	return statement
}
