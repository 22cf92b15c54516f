package rig

import (
	"context"
	"crypto/tls"
	"embed"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
)

//go:embed stages/*.yaml
var stages embed.FS

func (c *Cluster) certify(context.Context) error {
	a, err := newAuthority()
	if err != nil {
		return err
	}
	c.Authority = a
	if err := writePKI(c.pki(), a); err != nil {
		return err
	}
	port, err := FreePort()
	if err != nil {
		return err
	}
	c.Config = &rest.Config{Host: fmt.Sprintf("https://127.0.0.1:%d", port)}
	c.Config = c.As("admin", "system:masters")
	c.Kubeconfig, err = c.WriteKubeconfig("admin", c.Config)
	return err
}

func (c *Cluster) run(name string, args ...string) (*Process, error) {
	return c.Run(name, filepath.Join(c.Bin, name), nil, append(args, c.options.flags(name)...)...)
}

// startEtcd starts etcd without fsync: no test survives a crash of the machine.
func (c *Cluster) startEtcd(ctx context.Context) error {
	client, err := FreePort()
	if err != nil {
		return err
	}
	peer, err := FreePort()
	if err != nil {
		return err
	}
	c.EtcdEndpoint = fmt.Sprintf("http://127.0.0.1:%d", client)
	self := fmt.Sprintf("http://127.0.0.1:%d", peer)
	p, err := c.run(Etcd,
		"--name", "rig", "--data-dir", c.data(),
		"--listen-client-urls", c.EtcdEndpoint, "--advertise-client-urls", c.EtcdEndpoint,
		"--listen-peer-urls", self, "--initial-advertise-peer-urls", self, "--initial-cluster", "rig="+self,
		"--unsafe-no-fsync", "--quota-backend-bytes", "4294967296")
	if err != nil {
		return err
	}
	return poll(ctx, p, "etcd", func() bool { return healthy(c.EtcdEndpoint + "/health") })
}

func healthy(url string) bool {
	client := http.Client{
		Timeout:   time.Second,
		Transport: &http.Transport{DisableKeepAlives: true, TLSClientConfig: &tls.Config{InsecureSkipVerify: true}},
	}
	answer, err := client.Get(url)
	if err != nil {
		return false
	}
	defer answer.Body.Close()
	return answer.StatusCode == http.StatusOK
}

// startAPIServer starts the API server without rate limits, so that tests do not depend on a busy machine.
func (c *Cluster) startAPIServer(ctx context.Context) error {
	admin, err := c.Authority.Client("kube-apiserver-kubelet-client", "system:masters")
	if err != nil {
		return err
	}
	if err := admin.Write(c.pki(), "kubelet-client"); err != nil {
		return err
	}
	p, err := c.run(APIServer, append(c.apiServerFlags(),
		"--tls-cert-file", c.file("apiserver.crt"), "--tls-private-key-file", c.file("apiserver.key"),
		"--client-ca-file", c.file("ca.crt"),
		"--requestheader-client-ca-file", c.file("ca.crt"), "--requestheader-allowed-names", "front-proxy-client",
		"--requestheader-username-headers", "X-Remote-User", "--requestheader-group-headers", "X-Remote-Group",
		"--requestheader-extra-headers-prefix", "X-Remote-Extra-",
		"--proxy-client-cert-file", c.file("front.crt"), "--proxy-client-key-file", c.file("front.key"),
		"--kubelet-client-certificate", c.file("kubelet-client.crt"), "--kubelet-client-key", c.file("kubelet-client.key"),
		"--service-account-key-file", c.file("sa.key"), "--service-account-signing-key-file", c.file("sa.key"))...)
	if err != nil {
		return err
	}
	client, err := kubernetes.NewForConfig(c.Config)
	if err != nil {
		return err
	}
	return poll(ctx, p, APIServer, func() bool {
		return client.RESTClient().Get().AbsPath("/readyz").Do(ctx).Error() == nil
	})
}

func (c *Cluster) file(name string) string { return filepath.Join(c.pki(), name) }

func (c *Cluster) apiServerFlags() []string {
	flags := []string{
		"--etcd-servers", c.EtcdEndpoint,
		"--bind-address", "127.0.0.1", "--secure-port", c.Config.Host[strings.LastIndex(c.Config.Host, ":")+1:],
		"--service-cluster-ip-range", "10.96.0.0/16", "--service-account-issuer", "https://kubernetes.default.svc",
		"--authorization-mode", "Node,RBAC", "--allow-privileged",
		"--endpoint-reconciler-type", "none", "--kubelet-preferred-address-types", "InternalIP",
		"--enable-priority-and-fairness=false", "--max-requests-inflight", "0", "--max-mutating-requests-inflight", "0",
		"--runtime-config", "api/all=false,api/ga=true",
	}
	if c.options.History {
		flags = append(flags, "--etcd-compaction-interval", "0")
	}
	if c.options.Lean { // nothing would remove the taint
		flags = append(flags, "--disable-admission-plugins", "TaintNodesByCondition")
	}
	return flags
}

func (c *Cluster) startRest(ctx context.Context) error {
	if c.options.APIOnly {
		return nil
	}
	urls := make(map[*Process]string)
	for _, start := range []func() (*Process, string, error){c.startController, c.startScheduler, c.startKwok} {
		p, url, err := start()
		if err != nil {
			return err
		}
		urls[p] = url
	}
	for p, url := range urls {
		if err := poll(ctx, p, p.Name, func() bool { return healthy(url) }); err != nil {
			return err
		}
	}
	client := c.Client()
	return poll(ctx, c.Process(Controller), "the default service account", func() bool {
		_, err := client.CoreV1().ServiceAccounts("default").Get(ctx, "default", v1.GetOptions{})
		return err == nil
	})
}

func (c *Cluster) serving(name, user string) (flags []string, url string, err error) {
	port, err := FreePort()
	if err != nil {
		return nil, "", err
	}
	kubeconfig, err := c.WriteKubeconfig(name, c.As(user))
	if err != nil {
		return nil, "", err
	}
	return []string{
		"--kubeconfig", kubeconfig, "--authentication-kubeconfig", kubeconfig, "--authorization-kubeconfig", kubeconfig,
		"--bind-address", "127.0.0.1", "--secure-port", strconv.Itoa(port),
		"--leader-elect=false", "--kube-api-qps", "2000", "--kube-api-burst", "4000",
	}, fmt.Sprintf("https://127.0.0.1:%d/healthz", port), nil
}

func (c *Cluster) startController() (*Process, string, error) {
	flags, url, err := c.serving(Controller, "system:kube-controller-manager")
	if err != nil {
		return nil, "", err
	}
	grace := c.options.lease() * 5 / 4
	flags = append(flags,
		"--use-service-account-credentials=true",
		"--service-account-private-key-file", c.file("sa.key"), "--root-ca-file", c.file("ca.crt"),
		"--cluster-signing-cert-file", c.file("ca.crt"), "--cluster-signing-key-file", c.file("ca.key"),
		"--node-monitor-grace-period", grace.String(), "--node-monitor-period", "1s")
	if c.options.Lean {
		flags = append(flags, "--controllers", "*,-node-lifecycle-controller,-taint-eviction-controller,-ttl-controller,"+
			"-node-ipam-controller,-node-route-controller,-resourcequota-controller,-cronjob-controller,"+
			"-horizontal-pod-autoscaler-controller")
	}
	p, err := c.run(Controller, flags...)
	return p, url, err
}

func (c *Cluster) startScheduler() (*Process, string, error) {
	flags, url, err := c.serving(Scheduler, "system:kube-scheduler")
	if err != nil {
		return nil, "", err
	}
	p, err := c.run(Scheduler, flags...)
	return p, url, err
}

func (c *Cluster) startKwok() (*Process, string, error) {
	files, err := fs.Glob(stages, "stages/*.yaml")
	if err != nil {
		return nil, "", err
	}
	port, err := FreePort()
	if err != nil {
		return nil, "", err
	}
	flags := []string{
		"--kubeconfig", c.Kubeconfig, "--manage-all-nodes=false", "--manage-nodes-with-label-selector", Alive + "=true",
		"--node-lease-duration-seconds", strconv.Itoa(int(c.options.lease() / time.Second)),
		"--cidr", "10.240.0.0/12", "--node-ip", "10.0.0.1", "--server-address", fmt.Sprintf("127.0.0.1:%d", port),
	}
	for _, name := range files {
		data, err := stages.ReadFile(name)
		if err != nil {
			return nil, "", err
		}
		path := filepath.Join(c.Dir, name)
		if err := os.WriteFile(path, data, 0o600); err != nil {
			return nil, "", err
		}
		flags = append(flags, "--config", path)
	}
	p, err := c.run(Kwok, flags...)
	return p, fmt.Sprintf("http://127.0.0.1:%d/healthz", port), err
}
