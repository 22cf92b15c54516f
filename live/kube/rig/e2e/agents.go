package e2e

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"math/rand/v2"
	"net"
	"net/http"
	"strconv"
	"testing"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/oxgang/oxgang/live/agentapi"
	"github.com/oxgang/oxgang/live/kube/manager"
	"github.com/oxgang/oxgang/live/kube/rig"
)

// AgentName is the name in the agent API's certificate.
const AgentName = "oxgang-agents.oxgang-system.svc"

// Address returns a free address.
func Address(t testing.TB) string {
	t.Helper()
	port, err := rig.FreePort()
	if err != nil {
		t.Fatal(err)
	}
	return net.JoinHostPort("127.0.0.1", strconv.Itoa(port))
}

// Token returns a function that requests the service account token that a kubelet would mount into a pod.
func Token(ctx context.Context, k *kubernetes.Clientset) func(*corev1.Pod) (string, error) {
	return func(p *corev1.Pod) (string, error) {
		r := &authenticationv1.TokenRequest{Spec: authenticationv1.TokenRequestSpec{
			Audiences:      []string{"oxgang-agents"},
			BoundObjectRef: &authenticationv1.BoundObjectReference{APIVersion: "v1", Kind: "Pod", Name: p.Name, UID: p.UID},
		}}
		got, err := k.CoreV1().ServiceAccounts(p.Namespace).CreateToken(ctx, "default", r, metav1.CreateOptions{})
		if err != nil {
			return "", err
		}
		return got.Status.Token, nil
	}
}

// Trusting waits until the scheduler has published the agent API's certificates, and returns an HTTP client that trusts
// only these. The client connects from many addresses, because requests per address are limited.
func Trusting(ctx context.Context, t testing.TB, k client.Client, namespace string) *http.Client {
	t.Helper()
	var m corev1.ConfigMap
	Until(ctx, t, within, "the authority of the agent API is published", func() error {
		return k.Get(ctx, client.ObjectKey{Namespace: namespace, Name: manager.TrustMap}, &m)
	})
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM([]byte(m.Data[agentapi.CertificatesKey])) {
		t.Fatalf("ConfigMap %s: no certificates in %q", manager.TrustMap, m.Data)
	}
	c := &http.Client{Transport: &http.Transport{
		TLSClientConfig: &tls.Config{RootCAs: roots, ServerName: AgentName}, MaxIdleConnsPerHost: 64,
		DialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
			from := net.IPv4(127, 1, byte(rand.IntN(250)), byte(1+rand.IntN(250)))
			d := net.Dialer{LocalAddr: &net.TCPAddr{IP: from}}
			return d.DialContext(ctx, network, address)
		},
	}}
	t.Cleanup(c.CloseIdleConnections)
	return c
}
