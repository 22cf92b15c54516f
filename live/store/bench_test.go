package store

import (
	"database/sql"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/scheduler"
)

func BenchmarkAccept(b *testing.B) {
	s, n := opened(b, b.TempDir()), 0
	for b.Loop() {
		n++
		accepted(b, s, job.ID(fmt.Sprint("j", n)), "x")
	}
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "jobs/s")
}

func BenchmarkCommit(b *testing.B) {
	for _, jobs := range []int{1, 100} {
		b.Run(fmt.Sprint("jobs=", jobs), func(b *testing.B) {
			s, round := opened(b, b.TempDir()), int64(0)
			var list []job.ID
			for i := range jobs {
				list = append(list, accepted(b, s, job.ID(fmt.Sprint("j", i)), "x").Spec.ID)
			}
			for b.Loop() {
				round++
				p := planOf(round, list)
				must(b, s.Commit(&p))
			}
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "plans/s")
		})
	}
}

func BenchmarkReport(b *testing.B) {
	s := opened(b, b.TempDir())
	accepted(b, s, "a", "x")
	r := &job.Report{Job: "a", Interval: 30 * time.Second, StepTime: time.Second / 7, Progress: 151000.5, GradSqr: 0.5, GradVar: 1.5}
	for b.Loop() {
		must(b, s.Report("a", epoch, r))
	}
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "reports/s")
}

// reported stores 100 jobs that reported 1,000 times each, every 30 s for eight hours.
func reported(b *testing.B, s *Store) {
	b.Helper()
	for i := range 100 {
		accepted(b, s, job.ID(fmt.Sprint("j", i)), "x")
	}
	body, err := encode(&job.Report{Interval: 30 * time.Second, StepTime: time.Second / 7, Progress: 151000.5, GradSqr: 0.5, GradVar: 1.5})
	must(b, err)
	_, err = s.writer.Exec(`WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1000)
		INSERT INTO reports (job, at, body) SELECT number, ?, replace(?, '"Job":""', '"Job":"' || id || '"') FROM n, jobs`, noTime, body)
	must(b, err)
}

// BenchmarkLoad: 100,000 reports.
func BenchmarkLoad(b *testing.B) {
	s := opened(b, b.TempDir())
	reported(b, s)
	for b.Loop() {
		if st := loaded(b, s); len(st.Jobs[7].Before)+len(st.Jobs[7].After) != 1000 {
			b.Fatal("not all reports")
		}
	}
}

// BenchmarkOpen: 100,000 reports, all of which are examined.
func BenchmarkOpen(b *testing.B) {
	dir := b.TempDir()
	s, err := Open(dir)
	must(b, err)
	reported(b, s)
	must(b, s.Close())
	for b.Loop() {
		s, err := Open(dir)
		must(b, err)
		must(b, s.Close())
	}
}

// BenchmarkShortJob: a job is named, accepted and ends, after as many of its name and class.
func BenchmarkShortJob(b *testing.B) {
	for _, before := range []int{100, 10_000, 30_000} {
		b.Run(fmt.Sprint("before=", before), func(b *testing.B) {
			s := opened(b, b.TempDir())
			accepted(b, s, "true", "x")
			must(b, s.write(func(tx *sql.Tx) error { return past(tx, before) }))
			for b.Loop() {
				id, err := s.Name("true")
				must(b, err)
				accepted(b, s, id, "x")
				must(b, s.End(id, Ending{Outcome: scheduler.Done, At: time.Unix(1_700_000_000, 0)}))
			}
		})
	}
}

// past makes so many copies of the first job, as if they had ended.
func past(tx *sql.Tx, n int) error {
	const insert = `INSERT INTO jobs (id, token, class, spec, asked, command, dir, env, generation, status, batch, failures, user, ended, outcome, detail, ended_at)
		SELECT ?, ?, class, spec, asked, command, dir, CAST(? AS BLOB), generation, status, batch, failures, user, ?, 'done', '', '2026-01-01T00:00:00Z' FROM jobs ORDER BY number LIMIT 1`
	for i := range n {
		if _, err := tx.Exec(insert, fmt.Sprintf("true-%d", i), fmt.Sprint("t", i), strings.Repeat("x", 3000), i+1); err != nil {
			return err
		}
	}
	return nil
}
