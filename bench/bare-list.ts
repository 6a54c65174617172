// The baseline for the list of workers: the same SQL behind a bare Hono handler.
import { serve } from "@hono/node-server";
import { Hono } from "hono";
import pg from "pg";

const pool = new pg.Pool({ connectionString: process.env["DATABASE_URL"], max: 10 });
const app = new Hono();
app.get("/api/site/:id/workers", async (c) => {
  const id = Number(c.req.param("id"));
  const page = Number(c.req.query("page") ?? 1);
  const [site, rows] = await Promise.all([
    pool.query("select * from sites where id = $1", [id]),
    pool.query("select * from workers where site_id = $1 order by id desc limit $2 offset $3", [
      id,
      20,
      (page - 1) * 20,
    ]),
  ]);
  return c.json({
    data: rows.rows,
    meta: { total: site.rows[0].worker_count },
  });
});
serve({ fetch: app.fetch, port: 0, hostname: "127.0.0.1" }, ({ port }) =>
  console.log(`http://127.0.0.1:${port}`),
);
