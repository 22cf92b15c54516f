package store

import (
	"cmp"
	"database/sql"
	"fmt"
	"strconv"
	"strings"

	"github.com/oxgang/oxgang/model/job"
)

const maxID = 100

func letter(c rune) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9'
}

func inside(c rune) bool { return letter(c) || c == '.' || c == '_' || c == '-' }

func safe(id string) bool {
	return id != "" && len(id) <= maxID && letter(rune(id[0])) &&
		strings.IndexFunc(id, func(c rune) bool { return !inside(c) }) < 0
}

// Name returns an unused job ID: base ("mnist"), or base with a number ("mnist-2"), with invalid characters replaced.
func (s *Store) Name(base string) (job.ID, error) {
	s.naming.Lock()
	defer s.naming.Unlock()
	base = clean(base)
	var used bool
	err := s.read(func(tx *sql.Tx) (err error) {
		used, err = s.used(tx, base)
		return cmp.Or(err, s.count(tx, base))
	})
	if err != nil {
		return "", err
	}
	id := job.ID(base)
	if used {
		id = job.ID(fmt.Sprintf("%s-%d", base, s.highest[base]+1))
	}
	s.named[id] = true
	s.see(id)
	return id, nil
}

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

func (s *Store) used(tx *sql.Tx, id string) (used bool, err error) {
	err = tx.QueryRow("SELECT EXISTS (SELECT 1 FROM jobs WHERE id = ?)", id).Scan(&used)
	return used || s.named[job.ID(id)], err
}

func (s *Store) count(tx *sql.Tx, base string) error {
	if s.highest[base] > 0 {
		return nil
	}
	s.highest[base] = 1
	for id := range s.named {
		s.see(id)
	}
	// All IDs that begin with base and a hyphen: the dot is the next character.
	err := each(tx, func(rows *sql.Rows) error {
		var id job.ID
		err := rows.Scan(&id)
		s.see(id)
		return err
	}, "SELECT id FROM jobs WHERE id > ?1 || '-' AND id < ?1 || '.'", base)
	if err != nil {
		delete(s.highest, base)
	}
	return err
}

func (s *Store) see(id job.ID) {
	i := strings.LastIndexByte(string(id), '-')
	if i < 0 {
		return
	}
	n, err := strconv.ParseInt(string(id[i+1:]), 10, 32)
	if h := s.highest[string(id[:i])]; err == nil && h > 0 {
		s.highest[string(id[:i])] = max(h, n)
	}
}
