package provider

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-framework/types"
	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/plancheck"

	"github.com/docs-hosting/terraform-provider-docs/internal/simulator"
)

func TestAccBundleDownloadResource(t *testing.T) {
	const address = "docs_bundle_download.test"
	acc := newAcceptance(t, domainVariable)
	folder := filepath.ToSlash(t.TempDir())
	config := func(revision string) string {
		return acc.export(revision) + fmt.Sprintf(`
resource "docs_bundle_download" "test" {
  job_id = docs_static_export.test.job_id
  path   = %q
  unpack = true
}
`, folder+"/site/")
	}
	isOnDisk := resource.TestCheckResourceAttrWith(address, "job_id", func(id string) error {
		page, err := os.ReadFile(folder + "/site/index.html")
		if acc.simulated != nil && !strings.Contains(string(page), "<p>Job "+id) {
			return fmt.Errorf("index.html of job %s holds %q", id, page)
		}
		return err
	})
	resource.ParallelTest(t, resource.TestCase{
		ProtoV6ProviderFactories: acc.providers,
		Steps: []resource.TestStep{ // after each, the plan must be empty
			{
				Config:           config("1"),
				ConfigPlanChecks: expectAction(address, plancheck.ResourceActionCreate),
				Check:            isOnDisk,
			},
			{
				Config:           config("2"),
				ConfigPlanChecks: expectAction(address, plancheck.ResourceActionUpdate),
				Check:            isOnDisk,
			},
		},
	})
	acc.wantWork(t, counts{start: 2, bundle: 4, download: 2})
}

// notAnArchive is not text, which would be taken for a page.
const notAnArchive = "\x00not an archive"

func checksum(content string) string { return fmt.Sprintf("%x", sha256.Sum256([]byte(content))) }

// siteBundle is the address of most downloads in the tests.
const siteBundle = "docs_bundle_download.site"

// newDownload applies a download of a bundle of two pages.
func newDownload(t *testing.T) *cli {
	t.Helper()
	c := newHarness(t, simulator.Options{}).cli(t, "")
	c.addBundle("se_1", 2)
	c.write(t, c.download("site", "se_1", ""))
	c.apply(t, 0)
	return c
}

func TestNextDownload(t *testing.T) {
	t.Parallel()
	model := func(words string) (m bundleDownloadModel, found string) {
		value := func(word string) types.String {
			if word == "?" {
				return types.StringUnknown()
			}
			return types.StringValue(word)
		}
		w := strings.Fields(words + " -")
		return bundleDownloadModel{JobID: value(w[0]), Path: value(w[1]), Unpack: types.BoolValue(w[2] == "unpacked"), SHA256: value(w[3])}, w[4]
	}
	state, _ := model("se_1 out/bundle packed 1f")
	for plan, want := range map[string]downloadStep{ // and what is on disk
		"se_1 out/bundle packed 1f 1f":      downloadNothing,
		"se_1 ./out//bundle packed 1f 1f":   downloadNothing, // in another spelling
		"se_1 out/bundle packed ? 1f":       downloadNothing, // any checksum will do, or one that is not known yet
		"se_1 out/bundle packed 1f":         downloadAgain,
		"se_1 out/bundle packed 1f 0f":      downloadAgain, // an earlier bundle is there
		"se_1 out/bundle packed 2f 1f":      downloadAgain, // and will fail, unless the service has packed it again
		"se_2 out/bundle packed ? 1f":       downloadOther,
		"? out/bundle packed ? 1f":          downloadOther,
		"se_1 out/bundle unpacked 1f 1f":    downloadOther,
		"se_1 out/other packed 1f 1f":       downloadNew,
		"se_1 /srv/out/bundle packed 1f 1f": downloadNew, // even if that is the same file
		"se_1 ? packed 1f":                  downloadNew,
	} {
		wanted, found := model(plan)
		if got := nextDownload(state, wanted, found); got != want {
			t.Errorf("%s: step %d, want %d", plan, got, want)
		}
	}
	if got := nextDownload(bundleDownloadModel{}, state, ""); got != downloadNew {
		t.Errorf("without a state, step %d", got)
	}
}

func TestDownloadIsDescribedInTheState(t *testing.T) {
	t.Parallel()
	c := newDownload(t)
	c.service.AddJob(simulator.JobSpec{ID: "se_2", Queue: ended, Run: ended, Archive: []byte(notAnArchive)})
	c.write(t, c.download("site", "se_1", "")+
		c.download("unpacked", "se_1", fmt.Sprintf("unpack = true\n  path = %q", c.inFolder("unpacked", "bundle")+"/"))+
		c.download("file", "se_2", fmt.Sprintf("sha256 = %q\n  path = terraform_data.path.output", checksum(notAnArchive)))+
		fmt.Sprintf("resource \"terraform_data\" \"path\" {\n  input = %q\n}\n", c.inFolder("file", "bundle")))
	c.report(t, 0, "plan").wantNothingSaid(t, "file") // of a path that is not known yet
	c.apply(t, 0)
	state, file := c.values(t), c.disk(t, "site")["bundle"]
	want := map[string]any{"sha256": checksum(file), "size_bytes": float64(len(file)), "file_count": 4., "content_sha256": state[siteBundle]["content_sha256"]}
	wantAttributes(t, state[siteBundle], want)
	wantAttributes(t, state["docs_bundle_download.unpacked"], want)
	wantAttributes(t, state["docs_bundle_download.file"],
		map[string]any{"sha256": checksum(notAnArchive), "size_bytes": 15., "file_count": nil, "content_sha256": nil})
}

func TestDownloadThatFailsLeavesNothingBehind(t *testing.T) {
	t.Parallel()
	c := newHarness(t, simulator.Options{}).cli(t, "")
	c.addBundle("good", 2)
	c.service.AddJob(simulator.JobSpec{ID: "running", Queue: ended, Run: simulator.Forever})
	c.service.AddJob(simulator.JobSpec{ID: "cut", Queue: ended, Run: ended, Archive: []byte("\x1f\x8b")})
	c.change(t, "taken", "put bundle")
	c.write(t, c.download("other_checksum", "good", `sha256 = "`+strings.Repeat("0", 64)+`"`)+
		c.download("damaged", "cut", "")+c.download("running", "running", `timeouts { create = "30m" }`)+c.download("taken", "running", ""))
	plan := c.report(t, 0, "plan")
	plan.wantNothingSaid(t, "other_checksum")
	plan.wantSaid(t, "taken", "warning: "+summaryPathInUse+": "+c.inFolder("taken", "bundle")+" (path)")
	applied := c.report(t, 1, "apply", "-auto-approve")
	for name, said := range map[string]string{
		"other_checksum": summaryChecksumMismatch + " (sha256)",
		"damaged":        summaryDamaged + " (job_id)",
		"running":        summaryJobNotCompleted + " (",
		"taken":          summaryPathInUse + " (path)", // before the wait
	} {
		applied.wantSaid(t, name, "error: "+said)
		if strings.Contains(applied.said[name], noFilesChanged) { // the destroy of a replacement may have
			t.Errorf("%s: it says:\n%s", name, applied.said[name])
		}
		left := map[string]string{}
		if name == "taken" {
			left["bundle"] = "mine"
		}
		c.wantDisk(t, name, left)
	}
	if values := c.values(t); len(values) > 0 {
		t.Errorf("the state holds %v", values)
	}
}

func TestChangesThatDownloadNothing(t *testing.T) {
	t.Parallel()
	c := newDownload(t)
	before := c.disk(t, "site")
	c.write(t, c.download("site", "se_1", "unpack = false"))
	c.wantEmptyPlan(t)
	c.write(t, c.download("site", "se_1", "sha256 = terraform_data.sum.output")+ // not known in the plan
		"resource \"terraform_data\" \"sum\" {\n  input = \""+strings.Repeat("0", 64)+"\"\n}\n")
	c.report(t, 1, "apply", "-auto-approve").wantSaid(t, "site", "error: "+summaryChecksumMismatch+" (sha256)")
	c.wantDisk(t, "site", before)
	c.service.ResetRequests()
	for _, config := range []string{
		c.download("site", "se_1", `timeouts { update = "6m" }`),
		c.download("site", "se_1", `sha256 = "`+checksum(before["bundle"])+`"`),
		c.download("site", "se_1", fmt.Sprintf("path = %q", c.inFolder("site")+"//bundle")),
	} {
		c.write(t, config)
		c.apply(t, 0)
		c.wantEmptyPlan(t)
	}
	c.wantCounts(t, counts{})
}

// TestDownloadOnAFreshDiskInEachPhase is a run of HCP Terraform: the plan is made on one
// disk and applied on another, and both are empty.
func TestDownloadOnAFreshDiskInEachPhase(t *testing.T) {
	t.Parallel()
	c := newDownload(t)
	const dependent = `
resource "terraform_data" "content" {
  triggers_replace = [docs_bundle_download.site.content_sha256, docs_bundle_download.site.file_count, docs_bundle_download.site.job_id]
}
`
	c.write(t, c.download("site", "se_1", "")+dependent)
	c.apply(t, 0)
	before := c.disk(t, "site")
	repacked := bytes.NewBufferString(before["bundle"])      // the same files in another form
	if err := gzip.NewWriter(repacked).Close(); err != nil { // which appends an empty part
		t.Fatal(err)
	}
	before["bundle"] = repacked.String()
	c.change(t, "site", "rm .")
	plan := c.report(t, 0, "plan", "-out=saved")
	plan.wantNothingSaid(t, "site")
	if plan.planned["site"] != "update" || plan.planned["content"] != "" {
		t.Errorf("planned %v", plan.planned)
	}
	c.service.AddJob(simulator.JobSpec{ID: "se_1", Queue: ended, Run: ended, Archive: repacked.Bytes()})
	c.terraform.Run(t, 0, "apply", "saved")
	c.wantDisk(t, "site", before)
	wantAttributes(t, c.values(t)[siteBundle], map[string]any{"sha256": checksum(repacked.String())})
	// A plan of any change may be applied on a fresh disk.
	c.write(t, c.download("site", "se_1", `timeouts { update = "5m" }`)+dependent)
	if plan := c.report(t, 0, "plan", "-out=saved"); plan.planned["site"] != "update" || plan.planned["content"] != "" {
		t.Errorf("planned %v on the same disk", plan.planned)
	}
	c.change(t, "site", "rm .")
	c.terraform.Run(t, 0, "apply", "saved")
	c.wantDisk(t, "site", before)
	c.change(t, "site", "rm .")
	c.addBundle("se_1", 3)
	c.report(t, 1, "apply", "-auto-approve").wantSaid(t, "site", "error: "+summaryContentChanged+" (job_id)")
	c.wantDisk(t, "site", map[string]string{})
	c.apply(t, 0, "-replace="+siteBundle)
	c.wantEmptyPlan(t)
}
