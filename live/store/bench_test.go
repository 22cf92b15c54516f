package store

import (
	"fmt"
	"testing"
	"time"

	"github.com/oxgang/oxgang/job"
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
