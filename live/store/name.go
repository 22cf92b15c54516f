package store

import (
	"database/sql"
	"fmt"
	"strconv"
	"strings"

	"github.com/oxgang/oxgang/job"
)

// maxID bounds the IDs of jobs, in bytes: they name directories.
const maxID = 100

// letter reports whether a character may begin an ID.
func letter(c rune) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9'
}

// inside reports whether a character may be in an ID.
func inside(c rune) bool { return letter(c) || c == '.' || c == '_' || c == '-' }

// safe reports whether a text can be an ID: a file name without surprises.
func safe(id string) bool {
	return id != "" && len(id) <= maxID && letter(rune(id[0])) &&
		strings.IndexFunc(id, func(c rune) bool { return !inside(c) }) < 0
}

// Name returns an ID that no job has had and that was not returned before since Open:
// "mnist", then "mnist-2" and so on. Of base it keeps what IDs may have.
func (s *Store) Name(base string) (job.ID, error) {
	s.naming.Lock()
	defer s.naming.Unlock()
	base = clean(base)
	var id job.ID
	err := s.read(func(tx *sql.Tx) error {
		used, highest, err := s.namesakes(tx, base)
		id = job.ID(base)
		if used {
			id = job.ID(fmt.Sprintf("%s-%d", base, highest+1))
		}
		return err
	})
	if err != nil {
		return "", err
	}
	s.named[id] = true
	return id, nil
}

// clean makes a text the beginning of an ID, with room for a number.
func clean(base string) string {
	base = strings.Map(func(c rune) rune {
		if inside(c) {
			return c
		}
		return '-'
	}, base)
	base = strings.TrimLeftFunc(base, func(c rune) bool { return !letter(c) })
	base = strings.TrimRight(base[:min(len(base), maxID-20)], "-._")
	if base == "" {
		return "job"
	}
	return base
}

// namesakes reports whether an ID is used, and the highest number that was added to it, at
// least 1.
func (s *Store) namesakes(tx *sql.Tx, base string) (used bool, highest int64, err error) {
	highest = 1
	see := func(id job.ID) {
		rest, ok := strings.CutPrefix(string(id), base)
		used = used || ok && rest == ""
		digits, numbered := strings.CutPrefix(rest, "-")
		if n, err := strconv.ParseInt(digits, 10, 32); ok && numbered && err == nil {
			highest = max(highest, n)
		}
	}
	for id := range s.named {
		see(id)
	}
	// All that begin with base and a hyphen: a dot comes right after it.
	err = each(tx, func(rows *sql.Rows) error {
		var id job.ID
		err := rows.Scan(&id)
		see(id)
		return err
	}, "SELECT id FROM jobs WHERE id = ?1 OR id > ?1 || '-' AND id < ?1 || '.'", base)
	return used, highest, err
}
