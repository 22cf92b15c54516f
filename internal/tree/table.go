// Package tree checks the whole repository: imports follow the floors in the README, tables in docs have the names in the
// code, links and commands in docs work, and no text has a phrase that makes a reader stop.
package tree

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

// Check fails the test unless the first table of docs/<page>.md has exactly one row for each name, in backquotes
// in its first cell. For a later table, add its heading: "backends#worlds" is the first table below "Worlds".
func Check(t testing.TB, page string, names []string) {
	t.Helper()
	check(t, page, names, compare)
}

// checkFolders is Check for packages: each row links to the package's directory.
func checkFolders(t testing.TB, page string, folders []string) {
	t.Helper()
	check(t, page, folders, compareFolders)
}

func check(t testing.TB, page string, want []string, differ func(page []byte, heading string, want []string) error) {
	t.Helper()
	file, heading, _ := strings.Cut(page, "#")
	path := filepath.Join(testdata.Root(t), "docs", file+".md")
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatalf("read the page of the table: %v", err)
	}
	if err := differ(text, heading, want); err != nil {
		t.Errorf("docs/%s.md: %v", file, err)
	}
}

func compare(page []byte, heading string, names []string) error {
	header, rows, err := table(page, heading)
	if err != nil {
		return err
	}
	var errs []error
	for _, n := range names {
		if !slices.ContainsFunc(rows, func(row []string) bool { return nameOf(row) == n }) {
			errs = append(errs, fmt.Errorf("missing row: | `%s` |%s", n, strings.Repeat(" … |", len(header)-1)))
		}
	}
	return errors.Join(append(errs, extra(rows, names, nameOf))...)
}

func nameOf(row []string) string { return strings.Trim(row[0], "`") }

func compareFolders(page []byte, heading string, folders []string) error {
	_, rows, err := table(page, heading)
	if err != nil {
		return err
	}
	var errs []error
	for _, f := range folders {
		if !slices.ContainsFunc(rows, func(row []string) bool { return folderOf(row) == f }) {
			errs = append(errs, fmt.Errorf("missing row: | … | [%s](../%s) | … |", f, f))
		}
	}
	return errors.Join(append(errs, extra(rows, folders, folderOf))...)
}

func folderOf(row []string) string {
	for _, cell := range row {
		if _, target, ok := strings.Cut(cell, "](../"); ok {
			folder, _, _ := strings.Cut(target, ")")
			return folder
		}
	}
	return ""
}

func extra(all [][]string, names []string, of func(row []string) string) error {
	var errs []error
	rows := make([]string, len(all))
	for i, row := range all {
		rows[i] = of(row)
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

func table(page []byte, heading string) (header []string, rows [][]string, err error) {
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
			return header, rows, nil
		case header == nil:
			header = cells(text)
		case !rule:
			rule = true
		default:
			rows = append(rows, cells(text))
		}
	}
	if header == nil {
		return nil, nil, fmt.Errorf("no table below heading %q", heading)
	}
	return header, rows, nil
}

func cells(row string) []string {
	fields := strings.Split(strings.Trim(row, "|"), "|")
	for i := range fields {
		fields[i] = strings.TrimSpace(fields[i])
	}
	return fields
}
