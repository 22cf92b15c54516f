package config

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/oxgang/oxgang/model/cluster"
)

func TestEveryKeyReadsWhatItWrites(t *testing.T) {
	for _, k := range Keys() {
		c := Default()
		if err := c.Set(k.Name, c.Get(k.Name), "test"); err != nil {
			t.Errorf("%s: default %q: %v", k.Name, c.Get(k.Name), err)
		}
		if again := Default().Get(k.Name); c.Get(k.Name) != again {
			t.Errorf("%s: got %q after setting its default, want %q", k.Name, c.Get(k.Name), again)
		}
		if k.Doc == "" || strings.ContainsAny(k.Name, " _") {
			t.Errorf("%q: want a name with dots and dashes, and a meaning", k.Name)
		}
	}
}

func TestPrecedence(t *testing.T) {
	c := Default()
	file := "round: 2m\nsim:\n  noise: 0.1\n  seed-is-no-key: 1\n"
	if err := c.File(strings.NewReader(file), "c.yaml"); err == nil || !strings.Contains(err.Error(), `c.yaml:4: unknown key "sim.seed-is-no-key"`) {
		t.Errorf("unknown key: got error %v, want file, line and key", err)
	}
	if err := c.Environment([]string{"OXGANG_SIM_NOISE=0.2", "HOME=/root", "OXGANG_STATE=/s", "OXGANG_JOB=mnist", "OXGANG_SLOT=0"}); err != nil {
		t.Fatal(err)
	}
	if err := c.Set("round", "3m", "flag"); err != nil {
		t.Fatal(err)
	}
	got := []string{c.Get("round"), c.Origin("round"), c.Get("sim.noise"), c.Origin("sim.noise"), c.Origin("cluster")}
	if diff := cmp.Diff([]string{"3m0s", "flag", "0.2", "environment", "default"}, got); diff != "" {
		t.Errorf("values and origins (-want +got):\n%s", diff)
	}
}

func TestErrors(t *testing.T) {
	for _, tc := range []struct{ key, value, want string }{
		{"round", "soon", `round: got "soon", want a duration`},
		{"seed", "-1", `seed: got "-1", want a whole number`},
		{"sim.noise", "NaN", `sim.noise: got "NaN", want a finite number`},
		{"public", "maybe", `public: got "maybe", want true or false`},
		{"sim.maintenance", "t4-0@3h", `want nodes and times`},
		{"report-interval", "30s", `did you mean sim.report-interval, lender.interval?`},
	} {
		if err := Default().Set(tc.key, tc.value, "test"); err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s=%s: got error %v, want %q", tc.key, tc.value, err, tc.want)
		}
	}
	if err := Default().Environment([]string{"OXGANG_NOISE=1"}); err == nil || !strings.Contains(err.Error(), "OXGANG_NOISE") {
		t.Errorf("unknown variable: got error %v, want its name", err)
	}
}

func TestValidateJoinsAllComplaints(t *testing.T) {
	c := Default()
	c.Policies, c.Cluster, c.OnBadRow, c.Estimate = nil, "t4:6", "never", "guess"
	c.Jobs.Rigid, c.Scheduler.Round, c.Scheduler.Estimate.Error, c.Classes = 2, 0, -1, "guessed"
	err := c.Validate()
	for _, want := range []string{"policy", `"t4:6"`, `"never"`, `"guess"`, "rigid 2", "round 0s", "error -1", `estimate.classes "guessed"`} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got error %v, want %q in it", err, want)
		}
	}
	c = Default()
	c.Scale, c.Horizon, c.Generate.Span, c.Generate.Load = 0, -1, -1, -2
	c.Fairness, c.Jobs.Static = Fairness{Rho: "unfair"}, 1.5
	c.Jobs.Burstiness = 0.5
	err = c.Validate()
	for _, want := range []string{"scale 0", "horizon -1ns", "span -1ns", "load -2", `fairness.rho "unfair"`, "fairness.above 0", "static 1.5", "jobs: burstiness 0.5"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got error %v, want %q in it", err, want)
		}
	}
	if err := Default().Validate(); err != nil {
		t.Errorf("defaults: %v", err)
	}
}

func TestBuildCluster(t *testing.T) {
	for _, tc := range []struct {
		spec        string
		scale       int
		nodes, gpus int
	}{{"hetero64", 1, 11, 64}, {"hetero64", 2, 22, 128}, {"physical44", 1, 6, 44}, {"a100:1x8, t4:3x6", 1, 4, 26}, {"synergy128", 1, 16, 128}, {"v100:2x8/96c/1000.5g", 1, 2, 16}, {"lyra", 1, 443 + 520, 3544 + 4160}, {"lyra8", 2, 2 * 121, 2 * 968}, {"lyra-testbed", 1, 8, 64}} {
		c := Default()
		c.Cluster, c.Scale = tc.spec, tc.scale
		got, err := c.BuildCluster()
		if err != nil || len(got.Nodes()) != tc.nodes || got.GPUs() != tc.gpus {
			t.Errorf("%s x%d: got %v, %v, want %d nodes with %d GPUs", tc.spec, tc.scale, got, err, tc.nodes, tc.gpus)
		}
	}
	for _, bad := range []string{"", "t4", "t4:0x4", "t4:4", "t4:4x-1", ":1x1", "t4:99999999x1", "t4:1x99999999", "t4:1x1,t4:1x1", "t4:1x1/", "t4:1x1/8c", "t4:1x1/8/16g", "t4:1x1/0c/16g", "t4:1x1/8c/NaNg", "t4:1x1/8c/-1g", "t4:1x1/8c/16g/2", "t4:1x1/spot", "t4:1x1/spot@", "t4:1x1/spot@-1", "t4:1x1/spot@NaN", "t4:1x1/rent/rent", "t4:1x1/rent/8c/16g", "rent", "loan", "t4:1x1/loan@", "t4:1x1/loan@0", "t4:1x1/loan@1.5", "t4:1x1/loan@1001", "t4:1x1/loan/rent", "t4:1x1,t4:1x1/loan", "t4:1x1/loan,t4:1x2/loan@2", "t4:4x1/rack", "t4:4x1/rack@0", "t4:4x1/nvlink@x", "t4:4x1/rack@3/nvlink@2", "t4:4x1/rack@2/8c/16g", "t4:4x1/rack@2/rent", "rack@2"} {
		c := Default()
		c.Cluster = bad
		if _, err := c.BuildCluster(); err == nil {
			t.Errorf("cluster %q: got no error", bad)
		}
	}
}

func TestBuildClusterWithHosts(t *testing.T) {
	c := Default()
	c.Cluster = "v100:2x8/24c/500g,t4:1x4"
	got, err := c.BuildCluster()
	if err != nil {
		t.Fatal(err)
	}
	v100, _ := got.Type("v100")
	t4, _ := got.Type("t4")
	if v100.CPUs != 48 || v100.Memory != 1e12 || !v100.Counts() || t4.Counts() {
		t.Errorf("got %+v and %+v, want 48 cores and 10^12 bytes, and none said", v100, t4)
	}
}

func TestBuildClusterInRacks(t *testing.T) {
	c := Default()
	c.Cluster = "t4:5x4/rack@4/nvlink@2,a100:2x8/96c/1000g/nvlink@2,v100:3x8/nvlink@1/rack@2/loan,rtx:1x8"
	got, err := c.BuildCluster()
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, n := range got.Nodes() {
		all = append(all, fmt.Sprintf("%s %s %s", n.ID, n.Rack, n.NVLinkDomain))
	}
	want := []string{
		"t4-4-0 t4-4-rack0 t4-4-nvlink0", "t4-4-1 t4-4-rack0 t4-4-nvlink0", "t4-4-2 t4-4-rack0 t4-4-nvlink1", "t4-4-3 t4-4-rack0 t4-4-nvlink1", "t4-4-4 t4-4-rack1 t4-4-nvlink2",
		"a100-8-0  a100-8-nvlink0", "a100-8-1  a100-8-nvlink0",
		"v100-8-loan-0 v100-8-loan-rack0 v100-8-loan-nvlink0", "v100-8-loan-1 v100-8-loan-rack0 v100-8-loan-nvlink1", "v100-8-loan-2 v100-8-loan-rack1 v100-8-loan-nvlink2",
		"rtx-8-0  ",
	}
	if diff := cmp.Diff(want, all); diff != "" {
		t.Errorf("nodes, racks and NVLink domains (-want +got):\n%s", diff)
	}
}

func TestBuildClusterForRent(t *testing.T) {
	c := Default()
	c.Cluster = "t4:1x4,t4:2x4/rent,a100:1x8/96c/1000g/spot@0.25,new:1x2/rent"
	got, err := c.BuildCluster()
	if err != nil {
		t.Fatal(err)
	}
	rented := func(t cluster.GPUType, gpus int, g cluster.Group, price cluster.Price) cluster.Node {
		return cluster.Node{GPUType: t, Capacity: cluster.Resources{GPUs: gpus}, Group: g, Tenure: cluster.Rented, Price: price}
	}
	want := []cluster.Offer{
		{Group: "t4-4", Node: rented("t4", 4, "t4-4", 0.5), Most: 2},
		{Group: "a100-8-spot", Node: rented("a100", 8, "a100-8-spot", 0.9), Most: 1},
		{Group: "new-2", Node: rented("new", 2, "new-2", 0), Most: 1},
	}
	for i, n := range []cluster.Node{{GPUMemory: 16 << 30, Power: 70}, {GPUMemory: 40 << 30, Power: 400, Interruptions: 0.25}, {}} {
		want[i].Node.GPUMemory, want[i].Node.Power, want[i].Node.Interruptions = n.GPUMemory, n.Power, n.Interruptions
	}
	want[1].Node.Capacity.CPUs, want[1].Node.Capacity.Memory = 96, 1e12
	if diff := cmp.Diff(want, got.Offers()); diff != "" {
		t.Errorf("offers (-want +got):\n%s", diff)
	}
	if held := got.Held(); len(held.Nodes()) != 1 || held.Nodes()[0].ID != "t4-4-0" {
		t.Errorf("got %v held, want the first node", held.Nodes())
	}
}

func TestBuildClusterOnLoan(t *testing.T) {
	c := Default()
	c.Cluster = "v100:1x8,t4:2x8/96c/210g/loan,k80:12x2/loan@5,v100:1x8/loan@1"
	got, err := c.BuildCluster()
	if err != nil {
		t.Fatal(err)
	}
	lent := func(t cluster.GPUType, gpus int, g cluster.Group) cluster.Node {
		return cluster.Node{GPUType: t, Capacity: cluster.Resources{GPUs: gpus}, Group: g, Tenure: cluster.Loaned}
	}
	want := []cluster.Loan{
		{Group: "t4-8-loan", Node: lent("t4", 8, "t4-8-loan"), Nodes: 2},
		{Group: "k80-2-loan", Node: lent("k80", 2, "k80-2-loan"), Nodes: 12},
		{Group: "v100-8-loan", Node: lent("v100", 8, "v100-8-loan"), Nodes: 1},
	}
	for i, n := range []cluster.Node{{GPUMemory: 16 << 30, Power: 70, Price: 0.5}, {}, {GPUMemory: 16 << 30, Power: 300, Price: 2.5}} {
		want[i].Node.GPUMemory, want[i].Node.Power, want[i].Node.Price = n.GPUMemory, n.Power, n.Price
	}
	want[0].Node.Capacity.CPUs, want[0].Node.Capacity.Memory = 96, 210e9
	if diff := cmp.Diff(want, got.Loans()); diff != "" {
		t.Errorf("loans (-want +got):\n%s", diff)
	}
	if id := got.Nodes()[3].ID; id != "k80-2-loan-00" {
		t.Errorf("got node %s, want k80-2-loan-00", id)
	}
	if diff := cmp.Diff(map[cluster.GPUType]int{"t4": 3, "k80": 5}, c.Equivalents()); diff != "" {
		t.Errorf("equivalents (-want +got):\n%s", diff)
	}
	if held := got.Held(); len(held.Nodes()) != 1 || held.Nodes()[0].ID != "v100-8-0" {
		t.Errorf("got %v held, want the first node", held.Nodes())
	}
}

func TestEquivalents_of_presets(t *testing.T) {
	for _, p := range presets {
		c := Default()
		c.Cluster = p.name
		want := 1
		if strings.HasPrefix(p.name, "lyra") {
			want = 3
		}
		if got := max(1, c.Equivalents()["t4"]); got != want {
			t.Errorf("%s: got %d, want %d", p.name, got, want)
		}
	}
}

func TestBuildCluster_errors_of_loans(t *testing.T) {
	for spec, want := range map[string]string{
		"t4:4x8/loan@x":      `cluster "t4:4x8/loan@x": "loan@x", want the number of loaned GPUs that do the work of one other, 1 to 1000, as loan@3`,
		"t4:1x8,t4:4x8/loan": `cluster "t4:1x8,t4:4x8/loan": GPU type t4: 1 and 3 of its GPUs do the work of one, want one number, as t4:4x8,t4:4x8/loan@1`,
		"t4:4/loan":          `cluster "t4:4/loan", want nodes and GPUs per node after "t4:", such as t4:6x4 for 6 nodes of 4 GPUs`,
	} {
		c := Default()
		c.Cluster = spec
		if _, err := c.BuildCluster(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got error %v, want %q", spec, err, want)
		}
	}
}

func TestWindows(t *testing.T) {
	c := Default()
	text := "t4-4-0+t4-4-1@2h0m0s-3h30m0s,a100-8-0@1m0s-2m0s"
	if err := c.Set("sim.maintenance", text, "test"); err != nil {
		t.Fatal(err)
	}
	if c.Get("sim.maintenance") != text || c.Sim.Faults.Maintenance[0].To != 3*time.Hour+30*time.Minute {
		t.Errorf("got %q, %v, want %q", c.Get("sim.maintenance"), c.Sim.Faults.Maintenance, text)
	}
}

func TestSettingsOf(t *testing.T) {
	c := Default()
	c.Settings = []string{"p=-1", "fifo.backfill=true", "backfill=false"}
	got, err := c.SettingsOf("sia", []string{"p", "lambda"})
	if diff := cmp.Diff(map[string]string{"p": "-1"}, got); diff != "" || err != nil {
		t.Errorf("sia (-want +got):\n%s, error %v", diff, err)
	}
	got, _ = c.SettingsOf("fifo", []string{"backfill"})
	if got["backfill"] != "false" { // the later one counts
		t.Errorf("fifo: got %v, want backfill=false", got)
	}
	for _, bad := range []string{"p", "sia.q=1"} {
		c.Settings = []string{bad}
		if _, err := c.SettingsOf("sia", []string{"p"}); err == nil {
			t.Errorf("setting %q: got no error", bad)
		}
	}
}

func FuzzFile(f *testing.F) {
	f.Add("cluster: hetero64\nsim: {noise: 0.1}\n")
	f.Add("policy: [sia, fifo]\nround: 60s\n")
	f.Add("? [a]\n: b")
	f.Fuzz(func(t *testing.T, text string) {
		c := Default()
		if err := c.File(strings.NewReader(text), "f"); err == nil {
			_ = c.Validate() // must not panic
		}
	})
}

// What is written makes the same configuration: values, and which were set.
func TestWriteYAMLIsReadBack(t *testing.T) {
	var b strings.Builder
	c := Default()
	for key, value := range map[string]string{"sim.noise": "0.25", "round": "2m", "public": "true", "sim.round-epochs": "false"} {
		if err := c.Set(key, value, "test"); err != nil {
			t.Fatal(err)
		}
	}
	if err := c.WriteYAML(&b); err != nil {
		t.Fatal(err)
	}
	again := Default()
	if err := again.File(strings.NewReader(b.String()), "again"); err != nil {
		t.Fatal(err)
	}
	for _, k := range keys {
		if k.get(c) != k.get(again) || c.IsSet(k.Name) != again.IsSet(k.Name) {
			t.Errorf("%s: got %q, set %v; want %q, set %v", k.Name, k.get(again), again.IsSet(k.Name), k.get(c), c.IsSet(k.Name))
		}
	}
}

func TestMeasured(t *testing.T) {
	c := Default()
	for _, kv := range [][2]string{{"window", "4000-4999"}, {"jobs.restart", "0s"}} {
		if err := c.Set(kv[0], kv[1], "test"); err != nil || c.Get(kv[0]) != kv[1] {
			t.Errorf("%s=%s: got %q, error %v", kv[0], kv[1], c.Get(kv[0]), err)
		}
	}
	if c.Window != (Window{First: 4000, Last: 4999}) || c.Sim.Restart == nil || *c.Sim.Restart != 0 {
		t.Errorf("got window %+v and restart time %v, want 4000 to 4999 and 0s", c.Window, c.Sim.Restart)
	}
	for _, kv := range [][3]string{
		{"window", "4000", "first and the last"},
		{"window", "7-6", "first and the last"},
		{"window", "-1-6", "first and the last"},
		{"jobs.restart", "soon", "want a duration"},
	} {
		if err := c.Set(kv[0], kv[1], "test"); err == nil || !strings.Contains(err.Error(), kv[2]) {
			t.Errorf("%s=%s: got error %v, want %q", kv[0], kv[1], err, kv[2])
		}
	}
	for _, kv := range [][2]string{{"jobs.restart", "-1s"}, {"scheduler.first", "-1s"}} {
		bad := Default()
		if err := bad.Set(kv[0], kv[1], "test"); err != nil {
			t.Fatal(err)
		}
		if err := bad.Validate(); err == nil || !strings.Contains(err.Error(), "want at least 0") {
			t.Errorf("%s=%s: got error %v, want a complaint", kv[0], kv[1], err)
		}
	}
}

// --set sets any key, and leaves the settings of policies. A list goes on to the next part with =.
func TestSet_of_any_key(t *testing.T) {
	c := Default()
	if err := c.Set("set", "sia.p=-1,sim.bias=0.2,sim.noise=0.1,jobs.applications=bert,vgg,turn=6m,window=10", "flag"); err != nil {
		t.Fatal(err)
	}
	if c.Sim.Noise.Bias != 0.2 || c.Get("sim.noise") != "0.1" || c.Get("jobs.applications") != "bert,vgg" || c.Get("set") != "sia.p=-1,turn=6m,window=10" || c.Origin("sim.bias") != "flag" {
		t.Errorf("bias %v, applications %q, set %q", c.Sim.Noise.Bias, c.Get("jobs.applications"), c.Get("set"))
	}
	if err := c.Set("set", "sim.bias=much", "flag"); err == nil || !strings.Contains(err.Error(), "sim.bias") {
		t.Errorf("a value that is no number: %v", err)
	}
}
