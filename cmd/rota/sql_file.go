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
	pieces, err := cutFile(fileName(name), text)
	if err != nil {
		return err
	}
	refused := 0
	for _, p := range pieces {
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
		return &exitError{code: exitFailed, err: errors.New(plural(refused, "request was", "requests were") + " refused, of " + plural(len(pieces), "request", "requests"))}
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

// cutFile cuts the text of a file into what is sent together: a statement, or all from BEGIN to what ends it.
func cutFile(name, text string) (pieces []piece, err error) {
	sources, err := ddl.Split(text)
	if err != nil {
		return nil, piece{text: text, file: name}.blame(err)
	}
	for i := 0; i < len(sources); i++ {
		first, last := sources[i], i
		if _, begins := parsed(first).(*ddl.Begin); begins {
			last = endOfWork(sources, i)
		}
		pieces = append(pieces, pieceOf(name, text, first, sources[last]))
		i = last
	}
	return pieces, nil
}

// cutStatements cuts the text of a file into statements.
func cutStatements(name, text string) (pieces []piece, err error) {
	sources, err := ddl.Split(text)
	if err != nil {
		return nil, piece{text: text, file: name}.blame(err)
	}
	for _, one := range sources {
		pieces = append(pieces, pieceOf(name, text, one, one))
	}
	return pieces, nil
}

// pieceOf is the text from one statement to the end of another.
func pieceOf(name, text string, first, last ddl.Source) piece {
	return piece{text: text[first.Offset : last.Offset+len(last.Text)], file: name, lines: strings.Count(text[:first.Offset], "\n")}
}

// endOfWork is the statement that ends the transaction which begins at one, or the last if none does.
func endOfWork(sources []ddl.Source, begin int) int {
	for i := begin + 1; i < len(sources); i++ {
		switch parsed(sources[i]).(type) {
		case *ddl.Commit, *ddl.Rollback:
			return i
		}
	}
	return len(sources) - 1
}

// parsed is a statement, nil if it is none: the server says why.
func parsed(source ddl.Source) ddl.Statement {
	statement, err := ddl.Parse(source.Text)
	if err != nil {
		return nil
	}
	return statement
}
