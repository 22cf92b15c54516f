// Package doctable compares a literal table of names in the code (policies,
// trace formats, solvers, backends, placers) with the page that documents them.
package doctable

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/oxgang/oxgang/internal/testdata"
)

// Check fails the test unless the first table of docs/<page>.md has one row
// for each name, its first cell being the name in backquotes, and no row
// besides. It prints each missing row, ready to be filled in. A page with
// several tables marks the one meant with a heading: page "backends#worlds"
// is the first table below the heading "Worlds" of docs/backends.md.
func Check(t testing.TB, page string, names []string) {
	t.Helper()
	file, heading, _ := strings.Cut(page, "#")
	path := filepath.Join(testdata.Root(t), "docs", file+".md")
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatalf("read the page of the table: %v", err)
	}
	if err := compare(text, heading, names); err != nil {
		t.Errorf("docs/%s.md: %v", file, err)
	}
}

// compare says how the rows of a page differ from names: one error per missing
// row, per row of an unknown name, and per name that has two rows.
func compare(page []byte, heading string, names []string) error {
	header, rows, err := table(page, heading)
	if err != nil {
		return err
	}
	var errs []error
	for _, n := range names {
		if !slices.Contains(rows, n) {
			errs = append(errs, fmt.Errorf("missing row: | `%s` |%s", n, strings.Repeat(" … |", len(header)-1)))
		}
	}
	for i, r := range rows {
		switch {
		case !slices.Contains(names, r):
			errs = append(errs, fmt.Errorf("row `%s`: no such name in the code", r))
		case slices.Contains(rows[:i], r):
			errs = append(errs, fmt.Errorf("row `%s`: second row of that name", r))
		}
	}
	return errors.Join(errs...)
}

// table returns the header cells of the first table below the heading and the
// names in the first column of its rows.
func table(page []byte, heading string) (header, names []string, err error) {
	below, rule := heading == "", false
	for line := range bytes.Lines(page) {
		text := strings.TrimSpace(string(line))
		if title := strings.TrimLeft(text, "#"); title != text {
			if header != nil {
				break
			}
			below = below || strings.EqualFold(strings.TrimSpace(title), heading)
		}
		switch isRow := strings.HasPrefix(text, "|"); {
		case !below || !isRow && header == nil:
		case !isRow:
			return header, names, nil
		case header == nil:
			header = cells(text)
		case !rule:
			rule = true
		default:
			names = append(names, strings.Trim(cells(text)[0], "`"))
		}
	}
	if header == nil {
		return nil, nil, fmt.Errorf("no table below heading %q", heading)
	}
	return header, names, nil
}

// cells splits a table row into its cells, without the spaces around them.
func cells(row string) []string {
	fields := strings.Split(strings.Trim(row, "|"), "|")
	for i := range fields {
		fields[i] = strings.TrimSpace(fields[i])
	}
	return fields
}
